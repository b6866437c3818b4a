// Counts the requests that an account lost since it last answered: those that another account answered, and those that failed. The list of
// what needs attention shows the counts. They live in memory: a list that is read without a server has none.
import { isReplay } from '../../core/records/replays.ts'
import type { SkipReason } from '../../core/types/error.ts'
import type { Siblings } from '../../core/types/ports/siblings.ts'
import type { Candidate, Outcome, RequestContext, Slot } from '../../core/types/request/context.ts'
import { isTest } from './request/candidates.ts'

/** Requests by the connection that answered them. */
export interface Moved {
  readonly to: Readonly<Record<string, number>>
  readonly failed: number
}

export interface Moves {
  /** Call it with all candidates of a request when some are skipped. */
  planned(ctx: RequestContext, candidates: readonly Candidate[]): void
  settled(ctx: RequestContext, outcome: Outcome): void
  /** The account has no trouble any more. */
  forget(connectionId: string): void
  /** Returns the counts of all workers by connection. */
  read(): Promise<ReadonlyMap<string, Moved>>
  close(): void
}

const TOPIC = 'resilience.moves'

/** Other reasons are rules of the gateway, not trouble of the account. */
const TROUBLE: ReadonlySet<SkipReason> = new Set<SkipReason>([
  'circuit_open',
  'cooldown',
  'quota_exhausted',
  'model_locked',
  'auth_failed',
  'reauth_required',
])

export function moveCounter(orders: Slot<readonly Candidate[]>, siblings: Siblings | undefined): Moves {
  const counts = new Map<string, Moved>()
  const mine = (): Record<string, Moved> => Object.fromEntries(counts)
  const close = siblings?.answer(TOPIC, mine)

  const count = (id: string, answered: Candidate | null): void => {
    const { to, failed } = counts.get(id) ?? NONE
    const name = answered?.connection.id
    counts.set(id, name === undefined ? { to, failed: failed + 1 } : { to: { ...to, [name]: (to[name] ?? 0) + 1 }, failed })
  }

  return {
    planned: (ctx, candidates) => orders.set(ctx, candidates),
    settled(ctx, outcome) {
      const { attempts } = ctx
      const answered = attempts.find(({ action }) => action === 'returned')?.candidate ?? null
      if (answered !== null && counts.size > 0 && outcome.error === undefined) counts.delete(answered.connection.id)
      // A panel asks several accounts at once, and none of them takes the place of another.
      if ((attempts.length === 1 && answered !== null) || attempts.some(({ role }) => role !== undefined)) return
      // Requests of the gateway itself are not missed by anyone.
      if (isTest(ctx) || isReplay(ctx) || (answered === null && !isFailed(outcome))) return
      for (const id of lostBy(ctx, answered, orders.get(ctx) ?? [])) count(id, answered)
    },
    forget: (connectionId) => void counts.delete(connectionId),
    async read() {
      if (siblings === undefined) return counts
      return summed((await siblings.ask(TOPIC)) as Record<string, Moved>[])
    },
    close: () => close?.(),
  }
}

const NONE: Moved = { to: {}, failed: 0 }

/** A wrong request fails everywhere, and a caller who left did not wait for a failure. */
function isFailed({ status, aborted }: Outcome): boolean {
  return !aborted && (status >= 500 || status === 429)
}

/**
 * Returns the accounts that failed on the request, and those that were skipped although the plan has them before the one that answered.
 * Strategies that draw or take turns have no such order; the plan's order stands for theirs.
 */
function lostBy(ctx: RequestContext, answered: Candidate | null, order: readonly Candidate[]): Set<string> {
  const at = answered === null ? Number.POSITIVE_INFINITY : order.indexOf(answered)
  const lost = ctx.attempts.filter(({ candidate, skipped, error }) => {
    if (skipped === undefined) return error !== undefined
    return TROUBLE.has(skipped.reason) && (at === -1 || order.indexOf(candidate) < at)
  })
  const ids = new Set(lost.map(({ candidate }) => candidate.connection.id))
  if (answered !== null) ids.delete(answered.connection.id)
  return ids
}

function summed(lists: readonly Record<string, Moved>[]): Map<string, Moved> {
  const sums = new Map<string, Moved>()
  for (const [id, moved] of lists.flatMap((list) => Object.entries(list))) sums.set(id, together([sums.get(id) ?? NONE, moved]))
  return sums
}

export function together(all: readonly Moved[]): Moved {
  const to: Record<string, number> = {}
  for (const one of all) for (const [id, requests] of Object.entries(one.to)) to[id] = (to[id] ?? 0) + requests
  return { to, failed: all.reduce((sum, { failed }) => sum + failed, 0) }
}

/** Accounts that are named; the others are counted. */
const NAMED = 3

/** For example `212 requests moved to azure/main; none failed.` Returns null when no request was lost. */
export function movedText({ to, failed }: Moved, nameOf: (connectionId: string) => string): string | null {
  const byName = new Map<string, number>()
  for (const [id, requests] of Object.entries(to)) byName.set(nameOf(id), (byName.get(nameOf(id)) ?? 0) + requests)
  const names = [...byName].sort(([, a], [, b]) => b - a)
  const sum = names.reduce((total, [, requests]) => total + requests, 0)
  if (sum === 0) return failed === 0 ? null : `${counted(failed)} failed, and none moved to another connection.`
  const rest = failed === 0 ? 'none failed' : `${failed} failed`
  if (names.length === 1) return `${counted(sum)} moved to ${names[0]?.[0]}; ${rest}.`
  const others = names.slice(NAMED).reduce((total, [, requests]) => total + requests, 0)
  const parts = names.slice(0, NAMED).map(([name, requests]) => `${requests} to ${name}`)
  return `${counted(sum)} moved: ${[...parts, ...(others > 0 ? [`${others} to others`] : [])].join(', ')}; ${rest}.`
}

function counted(requests: number): string {
  return `${requests} ${requests === 1 ? 'request' : 'requests'}`
}
