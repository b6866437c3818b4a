// Measures how long accounts were unavailable, by reason. It reads their state at every step of the clock, and uses the exact end when
// the state has one.
import type { Connection } from '../../core/types/ports/provider.ts'
import type { AccountStateRecord, AccountStateService } from '../../plugins/resilience/service.ts'

/** Simulated ms. */
export interface AccountTimes {
  /** Time in cooldowns, model locks and exhausted quotas. */
  cooldown: number
  /** Time with an open circuit. */
  open: number
  /** Time with a refused credential. */
  refused: number
}

interface Out {
  readonly kind: keyof AccountTimes
  /** Epoch ms; null: until the state changes. */
  readonly until: number | null
}

export interface AccountWatch {
  /** `now`: epoch ms. Books the time since the last call under the state that was read then. */
  look(now: number): void
  /** By `provider/label`. */
  readonly times: ReadonlyMap<string, Readonly<AccountTimes>>
}

export function accountWatch(connections: readonly Connection[], states: AccountStateService | null): AccountWatch {
  const times = new Map(connections.map((connection) => [nameOf(connection), { cooldown: 0, open: 0, refused: 0 }]))
  const out = new Map<string, Out>()
  let last: number | null = null
  return {
    times,
    look(now) {
      for (const connection of connections) {
        const name = nameOf(connection)
        const was = out.get(name)
        const total = times.get(name)
        if (was !== undefined && total !== undefined && last !== null)
          total[was.kind] += Math.max(0, Math.min(now, was.until ?? now) - last)
        const is = states === null ? null : outOf(states.of(connection))
        if (is === null) out.delete(name)
        else out.set(name, is)
      }
      last = now
    },
  }
}

export function nameOf({ provider, label }: Pick<Connection, 'provider' | 'label'>): string {
  return `${provider}/${label}`
}

function outOf(state: AccountStateRecord): Out | null {
  if (state.status === 'auth_failed') return { kind: 'refused', until: null }
  if (state.breaker === 'open') return { kind: 'open', until: epoch(state.cooldown_until) }
  const ends = [state.cooldown_until, state.quota_resets_at, ...state.model_locks.map(({ until }) => until)].flatMap((end) =>
    end === null ? [] : [epoch(end) as number],
  )
  return ends.length === 0 ? null : { kind: 'cooldown', until: Math.max(...ends) }
}

function epoch(time: string | null): number | null {
  return time === null ? null : Date.parse(time)
}
