// provider.outage: five failures of one provider within a minute are minor, ten are major. A failure is an answer that is neither 2xx nor
// 4xx, or no answer. Each provider's outage is emitted once in ten minutes.
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ProviderOutage } from './events.ts'

const WINDOW_MS = 60_000
const MINOR = 5
const MAJOR = 10
/** Minimum time between two events of one provider, over all processes. A minor outage that becomes major is the same outage. */
const DEBOUNCE_MS = 600_000
/** Failures remembered of one provider; beyond that only the time of the last ones is exact. */
const MAX_FAILURES = 1000

export type OutageWatch = (provider: string) => void

/** Call it with the provider of each failure. */
export function outageWatch({ clock, counters, events, log }: PluginGateway): OutageWatch {
  const failures = new Map<string, number[]>()

  const tell = async (provider: string, severity: ProviderOutage['severity'], times: readonly number[]): Promise<void> => {
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
    if (await counters.once(`outage:${provider}`, DEBOUNCE_MS)) events.emit('provider.outage', data)
  }

  return (provider) => {
    const now = clock.monotonic()
    const times = (failures.get(provider) ?? []).filter((time) => time > now - WINDOW_MS)
    times.push(now)
    if (times.length > MAX_FAILURES) times.shift()
    failures.set(provider, times)
    if (times.length < MINOR) return
    tell(provider, times.length < MAJOR ? 'minor' : 'major', times).catch((error: unknown) =>
      log.warn('event.unsent', { type: 'provider.outage', error: String(error) }),
    )
  }
}
