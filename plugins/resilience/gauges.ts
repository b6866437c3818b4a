// Account metrics. Labels come from connections and from closed sets, never from a request. Gauges are read at scrape time, so requests do
// not pay for them.
import { CUSTOM_PROVIDER } from '../../core/models/gen-ai.ts'
import type { PluginGateway, TallySeries } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Attempt } from '../../core/types/request/context.ts'
import type { AccountBook } from './accounts/account-book.ts'
import type { Circuit } from './accounts/breaker.ts'

const CIRCUITS: Readonly<Record<Circuit, number>> = { closed: 0, half_open: 1, open: 2 }

export interface AccountMetrics {
  /** Counts each skipped account of a finished request once. */
  skipped(attempts: readonly Attempt[]): void
  cooldown(connection: Connection, source: 'retry_after' | 'circuit_breaker'): void
  probe(result: 'ok' | 'failed' | 'refused' | 'unsupported' | 'other'): void
}

export function accountMetrics(gateway: PluginGateway, book: AccountBook): AccountMetrics {
  const { metrics, clock } = gateway
  const accounts = gateway.use('accounts')
  const labels = ['provider', 'account']
  const circuit = metrics.gauge('account_circuit_state', 'Circuit of the account: 0 closed, 1 half open, 2 open.', labels, 'max')
  const inflight = metrics.gauge('account_requests_in_flight', 'Requests that run over the account.', labels)
  const cooling = metrics.gauge(
    'account_cooldown_seconds',
    'How long the account still cools down; 0 = it does not.',
    labels,
    'max',
  )
  const locked = metrics.gauge('account_locked_models', 'Models the account is not asked for now.', labels, 'max')
  const { known } = gateway.use('configuration')
  const shown = ({ id, provider }: Connection): string =>
    known(provider) || accounts.list().some((one) => one.orgId === null && one.connection.id === id) ? provider : CUSTOM_PROVIDER
  const collect = (): void => {
    for (const gauge of [circuit, inflight, cooling, locked]) gauge.reset()
    const now = clock.monotonic()
    for (const { connection, orgId } of accounts.list()) {
      // Readers of /metrics would see accounts of other organizations.
      if (orgId !== null) continue
      const state = book.of(connection.id)
      const of = { provider: connection.provider, account: connection.id }
      circuit.set(of, CIRCUITS[state.breaker.circuit(now)])
      inflight.set(of, state.inflight)
      cooling.set(of, Math.max(0, (state.cooldown?.until ?? now) - now) / 1000)
      locked.set(of, [...state.locks.values()].filter(({ until }) => now < until).length)
    }
  }
  Object.assign(circuit, { collect })
  const skips = metrics.tally('account_skips_total', 'Candidates passed over, by why.', ['provider', 'reason'])
  const cooldowns = metrics.tally('account_cooldowns_total', 'Cooldowns started.', ['provider', 'source'])
  const probes = metrics.tally('health_probes_total', 'Active probes of connections.', ['result'])
  const one = (series: TallySeries): void => series.add(1)
  return {
    skipped(attempts) {
      for (const { skipped, candidate } of attempts)
        if (skipped !== undefined) one(skips.series(shown(candidate.connection), skipped.reason))
    },
    cooldown: (connection, source) => one(cooldowns.series(shown(connection), source)),
    probe: (result) => one(probes.series(result)),
  }
}
