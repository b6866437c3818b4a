// Types of the service `runtimeSettings`: settings that were changed at run time.
import type { Changer } from './document.ts'

export interface RuntimeSettingsService {
  /** Returns the stored value of a key, the organization's own where it may differ; undefined: it is inherited. */
  stored(orgId: number | null, key: string): unknown
  /**
   * Stores a value, on every replica; undefined resets it to the inherited one.
   * @throws GatewayError 400 for an invalid value, 403 for a setting that the caller cannot change, 409 when the file fixes it.
   */
  change(key: string, value: unknown, changer: Changer, actor: string): Promise<void>
}

declare module '../../core/types/plugin/plugin.ts' {
  interface Services {
    runtimeSettings: RuntimeSettingsService
  }
}
