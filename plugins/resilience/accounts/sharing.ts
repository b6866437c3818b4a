// Shares account states between processes through the shared store: a process writes its changes there and checks once a second for
// others' changes. Requests never wait for it. While the store is unavailable each process uses its own knowledge. Without a shared store
// a reload finds the earlier states, with circuits, in the process's own store.
import { z } from 'zod'
import { randomId } from '../../../core/ids/ids.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import type { AccountBook } from './account-book.ts'
import type { AccountState } from './account-state.ts'

const POLL_MS = 1000
/** Workers of one address need not wait for their poll. */
const TOPIC = 'resilience'
/** Longer than any state lasts. */
const TTL_SECONDS = 32 * 86_400

export interface Sharing {
  /** Takes over the states of other processes. Never rejects. */
  look(): Promise<void>
  publish(state: AccountState): void
  /** Resolves when everything published so far is written. */
  close(): Promise<void>
}

// An account's state in wall-clock time, as it is stored and shared. A merge of two states keeps the later end of each part, so that the
// order of arrival does not matter.
const reason = z.enum(['rate_limited', 'permission', 'not_found', 'misconfigured', 'rule', 'operator'])

export const snapshot = z.object({
  cooldown_until: z.number().nullable(),
  level: z.number(),
  quota_until: z.number().nullable(),
  locks: z.array(z.object({ model: z.string(), until: z.number(), reason, level: z.number() })),
  /** null while closed. */
  circuit: z
    .object({ opened_at: z.number(), open_until: z.number(), reopenings: z.number(), probes: z.number(), failures: z.number() })
    .nullable(),
  /** Epoch ms: the later circuit wins. */
  circuit_at: z.number(),
  cleared_at: z.number(),
})
export type Snapshot = z.output<typeof snapshot>

/** Smaller differences are ignored, because converting between the clocks rounds. */
const SAME_MS = 1000

export function snapshotOf(state: AccountState, clock: Clock): Snapshot {
  const wall = (until: number) => Math.round(clock.now() + until - clock.monotonic())
  const { breaker } = state
  return {
    cooldown_until: state.cooldown === null ? null : wall(state.cooldown.until),
    level: state.level,
    quota_until: state.quotaUntil === null ? null : wall(state.quotaUntil),
    locks: [...state.locks].map(([model, lock]) => ({ model, until: wall(lock.until), reason: lock.reason, level: lock.level })),
    circuit:
      breaker.openedAt === null
        ? null
        : {
            opened_at: wall(breaker.openedAt),
            open_until: wall(breaker.openUntil),
            reopenings: breaker.reopenings,
            probes: breaker.probes,
            failures: breaker.failures,
          },
    circuit_at: state.circuitAt,
    cleared_at: state.clearedAt,
  }
}

/** Takes over later parts. Returns true when the other side lacks a part that this side has. */
export function join(state: AccountState, other: Snapshot, clock: Clock): boolean {
  const here = (until: number) => clock.monotonic() + until - clock.now()
  if (other.cleared_at < state.clearedAt) return true
  if (other.cleared_at > state.clearedAt) {
    state.clear()
    state.clearedAt = other.cleared_at
    state.circuitAt = 0
  }
  const own = snapshotOf(state, clock)
  const later = (theirs: number | null, ours: number | null) => theirs !== null && theirs > (ours ?? 0) + SAME_MS
  if (later(other.cooldown_until, own.cooldown_until))
    state.cooldown = { until: here(other.cooldown_until as number), serial: ++state.serial }
  if (later(other.quota_until, own.quota_until)) state.quotaUntil = here(other.quota_until as number)
  state.level = Math.max(state.level, other.cooldown_until === null ? 0 : other.level)
  for (const { model, until, reason, level } of other.locks) {
    if (later(until, own.locks.find((lock) => lock.model === model)?.until ?? null))
      state.locks.set(model, { until: here(until), reason, level, serial: ++state.serial })
  }
  if (other.circuit_at > state.circuitAt) {
    state.circuitAt = other.circuit_at
    const { breaker } = state
    breaker.reset()
    if (other.circuit !== null) {
      breaker.openedAt = here(other.circuit.opened_at)
      breaker.openUntil = here(other.circuit.open_until)
      breaker.reopenings = other.circuit.reopenings
      breaker.probes = other.circuit.probes
      breaker.failures = other.circuit.failures
      breaker.lookedAt = here(other.circuit_at)
    }
  }
  state.settle()
  return (
    later(own.cooldown_until, other.cooldown_until) ||
    later(own.quota_until, other.quota_until) ||
    own.circuit_at > other.circuit_at ||
    own.locks.some(({ model, until }) => later(until, other.locks.find((lock) => lock.model === model)?.until ?? null))
  )
}

/**
 * @param shared whether other processes write there; otherwise this process's state is always the latest.
 * @param joined called with each state that other processes may have changed.
 */
export function startSharing(
  gateway: PluginGateway,
  book: () => AccountBook,
  shared: boolean,
  joined: (state: AccountState) => void = () => {},
): Sharing {
  const { storage, clock, log } = gateway
  const accounts = gateway.use('accounts')
  const siblings = gateway.optional('siblings')()
  const dirty = new Set<AccountState>()
  let sending: Promise<void> | null = null
  /** The value at the last check; undefined, which is never stored: the next check reads. */
  let mark: unknown

  const send = async (): Promise<void> => {
    while (dirty.size > 0) {
      for (const state of dirty) {
        dirty.delete(state)
        const there = shared ? snapshot.safeParse(await storage.getItem(`state:${state.id}`)) : null
        if (there?.success) join(state, there.data, clock)
        await storage.setItem(`state:${state.id}`, snapshotOf(state, clock), { ttl: TTL_SECONDS })
      }
      await storage.setItem('changed', randomId(''))
      siblings?.tell(TOPIC, null)
      // Changes that other processes wrote in between must still be read.
      mark = undefined
    }
  }

  const unshared = (error: unknown): void => log.warn('resilience.unshared', { error: String(error) })

  const publish = (state: AccountState): void => {
    dirty.add(state)
    sending ??= send()
      .catch(unshared)
      .finally(() => {
        sending = null
      })
  }

  const look = async (): Promise<void> => {
    const seen = await storage.getItem('changed')
    if (seen === mark) return
    const lists = accounts.list().map(async ({ connection }) => {
      const there = snapshot.safeParse(await storage.getItem(`state:${connection.id}`))
      const state = book().of(connection.id)
      // A store that restarted empty gets this process's state, because the state of its downtime exists nowhere else.
      if (there.success ? join(state, there.data, clock) : !state.quiet) publish(state)
      if (there.success) joined(state)
    })
    await Promise.all(lists)
    mark = seen
  }
  if (shared) gateway.every('sharing', POLL_MS, look)
  const unfollow = siblings?.on(TOPIC, () => void look().catch(unshared))

  return {
    look: () => look().catch(unshared),
    publish,
    async close() {
      unfollow?.()
      await sending
    },
  }
}
