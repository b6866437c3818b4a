// Emits the events of accounts and providers: each once per transition, across processes.
import type { EventMap, PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Connection } from '../../core/types/ports/provider.ts'

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
  /** Ms since the first opening. */
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

declare module '../../core/types/plugin/plugin.ts' {
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

/** Two processes that observe the same failing upstream do so within this time. */
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

// provider.outage: five failures of one provider within a minute are minor, ten are major. A failure is an answer that is neither 2xx nor
// 4xx, or no answer. Each provider's outage is emitted once in ten minutes.
const WINDOW_MS = 60_000
const MINOR = 5
export const MAJOR = 10
/** Minimum time between two events of one provider, over all processes. A minor outage that becomes major is the same outage. */
const DEBOUNCE_MS = 600_000
/** Maximum remembered failures of one provider; above that only the times of the last ones are exact. */
const MAX_FAILURES = 1000

export interface OutageWatch {
  /** Call it with the provider of each failure, and the organization that owns the connection. */
  failed(provider: string, orgId: number | null): void
  /** Returns the providers that failed often within the last minute for this organization. `since`: monotonic ms. */
  current(orgId: number | null): { provider: string; errors: number; since: number }[]
}

export function outageWatch({ clock, counters, events, log }: PluginGateway): OutageWatch {
  /** By organization, because one of them may give a provider's name to its own address. */
  const failures = new Map<number | null, Map<string, number[]>>()

  const tell = async (
    provider: string,
    orgId: number | null,
    severity: ProviderOutage['severity'],
    times: readonly number[],
  ): Promise<void> => {
    const [first, last] = [times[0] as number, times.at(-1) as number]
    const wall = (time: number) => new Date(clock.now() - (clock.monotonic() - time)).toISOString()
    const data: ProviderOutage = {
      provider,
      severity,
      error_count: times.length,
      window_seconds: 60,
      first_error_at: wall(first),
      last_error_at: wall(last),
      dedup_key: `${provider}:${severity}`,
    }
    const told = orgId === null ? `outage:${provider}` : `outage:${orgId}:${provider}`
    if (await counters.once(told, DEBOUNCE_MS)) events.emit('provider.outage', data, { orgId })
  }

  const recent = (times: readonly number[] = []): number[] => {
    const now = clock.monotonic()
    return times.filter((time) => time > now - WINDOW_MS)
  }
  const failed = (provider: string, orgId: number | null): void => {
    const byProvider = failures.get(orgId) ?? new Map<string, number[]>()
    const times = recent(byProvider.get(provider))
    times.push(clock.monotonic())
    if (times.length > MAX_FAILURES) times.shift()
    failures.set(orgId, byProvider.set(provider, times))
    if (times.length < MINOR) return
    tell(provider, orgId, times.length < MAJOR ? 'minor' : 'major', times).catch((error: unknown) =>
      log.warn('event.unsent', { type: 'provider.outage', error: String(error) }),
    )
  }
  const current = (orgId: number | null) =>
    [...(failures.get(orgId) ?? [])].flatMap(([provider, all]) => {
      const times = recent(all)
      return times.length < MINOR ? [] : [{ provider, errors: times.length, since: times[0] as number }]
    })
  return { failed, current }
}
