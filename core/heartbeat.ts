// How often quiet streams are given a sign of life: what was set at run time, over what is configured.
import type { Heartbeat } from './services.ts'

export interface Pace extends Heartbeat {
  /** ms. */
  over(configured: number): number
}

export function pace(changed: () => void): Pace {
  const layers: { ms: number | null }[] = []
  return {
    over: (configured) => layers.findLast(({ ms }) => ms !== null)?.ms ?? configured,
    layer() {
      const layer: { ms: number | null } = { ms: null }
      layers.push(layer)
      return {
        set(ms) {
          layer.ms = ms
          changed()
        },
        end() {
          const at = layers.indexOf(layer)
          if (at !== -1) layers.splice(at, 1)
          changed()
        },
      }
    },
  }
}
