// Decides the interval and form of heartbeats in quiet streams. The runtime setting overrides the configuration.
import type { Heartbeat, HeartbeatForm } from './services.ts'
import type { HeaderBag } from './types/ports/ports.ts'
import type { Dialect } from './types/request/canonical.ts'
import type { DialectDriver } from './types/request/dialect.ts'

export interface Pace extends Heartbeat {
  /** Returns the interval in ms. */
  over(configured: number): number
  formOf(dialect: Dialect): HeartbeatForm
}

interface Layer {
  ms: number | null
  readonly forms: Map<Dialect, HeartbeatForm>
}

export const PING = ': ping\n\n'

/** Returns the text of one heartbeat for this caller; null: its streams have none. */
export function heartbeatText(driver: DialectDriver | undefined, form: HeartbeatForm, headers: HeaderBag): string | null {
  if (form === 'off') return null
  const frame = driver?.quietFrame
  if (frame === undefined || form === 'comment') return PING
  return form === 'frame' || frame.neededBy(headers) ? frame.text(headers) : PING
}

export function pace(changed: () => void): Pace {
  const layers: Layer[] = []
  return {
    over: (configured) => layers.findLast(({ ms }) => ms !== null)?.ms ?? configured,
    formOf: (dialect) => layers.findLast(({ forms }) => forms.has(dialect))?.forms.get(dialect) ?? 'auto',
    layer() {
      const layer: Layer = { ms: null, forms: new Map() }
      layers.push(layer)
      return {
        set(ms) {
          layer.ms = ms
          changed()
        },
        form: (dialect, form) => void layer.forms.set(dialect, form),
        end() {
          const at = layers.indexOf(layer)
          if (at !== -1) layers.splice(at, 1)
          changed()
        },
      }
    },
  }
}
