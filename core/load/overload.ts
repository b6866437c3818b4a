// Decides whether the gateway accepts a new request. The host measures event-loop delay and heap use. Accepted requests continue.
// Interactive requests take precedence over batches and over the gateway's own calls.
import type { Metrics } from '../metrics/registry.ts'
import type { TallySeries } from '../types/plugin/plugin.ts'
import type { HeaderBag } from '../types/ports/ports.ts'
import { overloaded } from './receiving.ts'

/** 0: every request is accepted. 1: no batches; other requests only in a turn of the event loop that is not late. 2: none. */
export type Pressure = 0 | 1 | 2

/** The value `batch` means that the request may wait; it is refused first. */
export const PRIORITY_HEADER = 'x-gateway-priority'

export class Overload {
  /** Set by the host. */
  level: Pressure = 0
  /**
   * Set by the host: true when this turn of the event loop has already taken too long. Requests that arrive together run in one turn, so
   * the first ones delay the last.
   */
  isLate: () => boolean = () => false
  readonly #shed: Record<'interactive' | 'batch', TallySeries>

  constructor(metrics: Metrics) {
    const shed = metrics.tally('requests_shed_total', 'Requests refused while the gateway was overloaded.', ['class'])
    this.#shed = { interactive: shed.series('interactive'), batch: shed.series('batch') }
    const gauge = metrics.gauge(
      'overload_level',
      'Refused at the moment: 0 nothing, 1 batches and requests that a late event loop would keep waiting, 2 every new request.',
      [],
      'max',
    )
    Object.assign(gauge, { collect: () => gauge.set(this.level) })
  }

  /** Called only under pressure. @throws GatewayError 503. */
  admit(headers: HeaderBag): void {
    if (headers.get(PRIORITY_HEADER)?.trim().toLowerCase() === 'batch') this.refuseBatch()
    if (this.level < 2 && !this.isLate()) return
    this.#shed.interactive.add(1)
    throw overloaded('The gateway is overloaded. Send the request again in a moment.')
  }

  /** For the gateway's own calls. @throws GatewayError 503. */
  refuseBatch(): void {
    if (this.level === 0) return
    this.#shed.batch.add(1)
    throw overloaded('The gateway is busy, and batches come after interactive requests. Send the request again later.')
  }
}
