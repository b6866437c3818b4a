// Types of reloads: the refusal of a configuration, and the event of each reload.

/** The newest configuration was refused, and an older one keeps serving. */
export interface RefusedReload {
  /** Epoch ms. */
  readonly at: number
  readonly message: string
}

declare module './plugin/plugin.ts' {
  interface EventMap {
    /** `generation`: the one that serves. The event stays inside the gateway. */
    'config.reload': { state: 'loaded' | 'refused'; generation: number }
  }
}
