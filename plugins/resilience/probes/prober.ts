// The active prober: requests each connection's model list and updates the circuit with the result. The call is not booked. A connection
// without such a list is called once.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { AccountBook, Sent } from '../accounts/account-book.ts'
import type { Effect } from '../accounts/effects.ts'
import type { AccountMetrics } from '../gauges.ts'
import type { ModelListProbe } from '../service.ts'

const TIMEOUT_MS = 10_000
const PARALLEL = 4
/** One refusal may be about the model list only; two in a row are about the key. */
const REFUSALS = 2

export function startProber(gateway: PluginGateway, book: AccountBook, metrics: AccountMetrics, intervalMs: number): void {
  const { clock, log } = gateway
  const accounts = gateway.use('accounts')
  const prober = gateway.optional('modelListProbe')
  /** By connection object: a changed connection is called again. */
  const listless = new WeakSet<Connection>()
  const refusals = new WeakMap<Connection, number>()
  let complained = false

  const judge = (sent: Sent, status: number, error: GatewayError | null): void => {
    const { connection } = sent
    const fail = (effect: Effect) =>
      book.failed(sent, error ?? GatewayError.upstream(status, `The list of models answered with status ${status}.`), effect)
    if (status === 401 || status === 403) {
      const count = (refusals.get(connection) ?? 0) + 1
      refusals.set(connection, count)
      metrics.probe('refused')
      return count < REFUSALS ? book.toldNothing(sent) : fail({ refused: true })
    }
    refusals.delete(connection)
    if (status >= 200 && status < 300) {
      metrics.probe('ok')
      book.succeeded(sent)
    } else if (status === 404 || status === 405) {
      listless.add(connection)
      metrics.probe('unsupported')
      book.toldNothing(sent)
    } else if (status === 0 || status >= 500) {
      metrics.probe('failed')
      fail({ breaker: true })
    } else {
      metrics.probe('other')
      book.toldNothing(sent)
    }
  }

  const probe = async (service: ModelListProbe, connection: Connection, signal: AbortSignal): Promise<void> => {
    const state = book.of(connection.id)
    const now = clock.monotonic()
    if (state.blocked(connection, '', now) !== null) return
    const half = !state.breaker.closed
    if (half && !state.breaker.beginProbe(now)) return
    const access = book.accessOf(connection)
    const sent: Sent = { state, connection, access, model: '', lock: '', seen: state.serial, probe: half, test: false }
    const ending = new AbortController()
    const stop = () => ending.abort(GatewayError.timeout('The list of models did not come in time.'))
    signal.addEventListener('abort', stop, { once: true })
    const timer = clock.timer(TIMEOUT_MS, stop, true)
    try {
      const status = await service.status(connection, ending.signal)
      judge(sent, status, null)
    } catch (thrown) {
      const error = GatewayError.from(thrown)
      if (signal.aborted || error.upstream === null || error.upstream.kind === 'proxy') book.toldNothing(sent)
      else judge(sent, error.upstream.status, error)
    } finally {
      timer.cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  gateway.every(
    'prober',
    intervalMs,
    async (signal) => {
      const service = prober()
      if (service === undefined) {
        if (!complained) log.warn('prober.idle', { reason: 'No plugin knows how to ask connections for their models.' })
        complained = true
        return
      }
      const waiting = accounts
        .list()
        .flatMap(({ connection, enabled }) => (enabled && !listless.has(connection) ? [connection] : []))
      const next = async (): Promise<void> => {
        for (let one = waiting.shift(); one !== undefined && !signal.aborted; one = waiting.shift())
          await probe(service, one, signal)
      }
      await Promise.all(Array.from({ length: PARALLEL }, next))
    },
    { once: true },
  )
}
