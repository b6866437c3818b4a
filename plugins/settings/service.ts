// Types of the service `runtimeSettings`: settings that were changed at run time.

export interface RuntimeSettingsService {
  /** Returns the stored value of a key; undefined: file and environment apply. */
  stored(key: string): unknown
  /**
   * Stores a value, on every replica; undefined gives the setting back to file and environment.
   * @throws GatewayError 400 for an invalid value, 409 when the file fixes the setting.
   */
  change(key: string, value: unknown, actor: string): Promise<void>
}

declare module '../../core/types/plugin.ts' {
  interface Services {
    runtimeSettings: RuntimeSettingsService
  }
}
