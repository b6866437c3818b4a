// The events of accounts and providers: each once per transition, over all processes.
import type { EventMap, PluginGateway } from '../../core/types/plugin.ts'
import type { Connection } from '../../core/types/provider.ts'

interface OfAccount {
  readonly provider: string
  readonly account_id: string
  /** RFC 3339 UTC. */
  readonly occurred_at: string
}

export interface CooldownStarted extends OfAccount {
  readonly retry_after_seconds: number
  readonly cooldown_until: string
  readonly source: 'retry_after' | 'circuit_breaker'
}

export interface CircuitOpened extends OfAccount {
  readonly consecutive_failures: number
  readonly cooldown_until: string
}

export interface CircuitClosed extends OfAccount {
  /** From the first opening. */
  readonly open_for_ms: number
}

export interface ProviderOutage {
  readonly provider: string
  readonly severity: 'minor' | 'major'
  readonly error_count: number
  readonly window_seconds: 60
  readonly first_error_at: string
  readonly last_error_at: string
  readonly dedup_key: string
}

declare module '../../core/types/plugin.ts' {
  interface EventMap {
    'account.cooldown_started': CooldownStarted
    'account.quota_exhausted': OfAccount
    'provider.circuit_opened': CircuitOpened
    'provider.circuit_closed': CircuitClosed
    'provider.outage': ProviderOutage
  }
}

export const SUBSCRIPTIONS = {
  'account.cooldown_started': { defaultOn: true },
  'account.quota_exhausted': { defaultOn: true },
  'provider.circuit_opened': { defaultOn: true },
  'provider.circuit_closed': { defaultOn: true },
  'provider.outage': { defaultOn: true },
} satisfies Partial<Record<keyof EventMap, { defaultOn: boolean }>>

/** Two processes that see the same upstream fail do so within this time. */
const SAME_MS = 5000

export interface Announcer {
  cooldownStarted(connection: Connection, ms: number, source: CooldownStarted['source']): void
  quotaExhausted(connection: Connection): void
  circuitOpened(connection: Connection, failures: number, ms: number): void
  circuitClosed(connection: Connection, openForMs: number): void
}

/** @param shared whether other processes see the same accounts. */
export function announcer(gateway: PluginGateway, orgOf: (id: string) => number | null, shared: boolean): Announcer {
  const { clock, counters, events, log } = gateway
  const at = (ms = 0) => new Date(clock.now() + ms).toISOString()
  const of = ({ provider, id }: Connection): OfAccount => ({ provider, account_id: id, occurred_at: at() })
  const tell = <K extends keyof EventMap>(type: K, data: EventMap[K], { id }: Connection, scope = ''): void => {
    const emit = () => events.emit(type, data, { orgId: orgOf(id) })
    if (!shared) return emit()
    counters.once(`told:${type}:${id}:${scope}`, SAME_MS).then(
      (first) => void (first && emit()),
      (error: unknown) => log.warn('event.unsent', { type, error: String(error) }),
    )
  }
  return {
    cooldownStarted: (connection, ms, source) =>
      tell(
        'account.cooldown_started',
        { ...of(connection), retry_after_seconds: Math.ceil(ms / 1000), cooldown_until: at(ms), source },
        connection,
        source,
      ),
    quotaExhausted: (connection) => tell('account.quota_exhausted', of(connection), connection),
    circuitOpened: (connection, failures, ms) =>
      tell('provider.circuit_opened', { ...of(connection), consecutive_failures: failures, cooldown_until: at(ms) }, connection),
    circuitClosed: (connection, openForMs) =>
      tell('provider.circuit_closed', { ...of(connection), open_for_ms: Math.round(openForMs) }, connection),
  }
}
