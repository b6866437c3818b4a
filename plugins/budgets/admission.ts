// Before a request is sent: a budget that is used up refuses it before any cache; the others keep back what it
// can cost at most, and the first that cannot refuses it. A session's cap is one of them.
import { storageUnavailable } from '../../core/db/storage-fault.ts'
import type { RequestContext, Slot } from '../../core/types/context.ts'
import type { PluginGateway, Services } from '../../core/types/plugin.ts'
import type { TakeResult } from '../../core/types/ports.ts'
import { accountOf } from './account.ts'
import type { Directory, Entity } from './directory.ts'
import type { Estimate } from './estimate.ts'
import { limitOf } from './limit.ts'
import type { Mirror } from './mirror.ts'
import { budgetExhausted, sessionExhausted } from './refusal.ts'
import type { Budget } from './service.ts'
import { SESSION_IDLE_MS, type SessionCap } from './session-cap.ts'
import type { Calendar } from './window.ts'

export type Hold = Parameters<Services['ledger']['hold']>[1][number]

/** The budgets that apply to a request. */
export interface Applied {
  readonly budgets: readonly Budget[]
  readonly session: SessionCap | null
  /** Where it is kept back; booked by the ledger. */
  held: readonly Hold[]
  /** The budget that refused with 402. */
  refusedBy: Budget | 'session' | null
}

export interface AdmissionSources {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'log' | 'counters'>
  readonly ledger: Pick<Services['ledger'], 'hold'>
  readonly slot: Slot<Applied>
  readonly calendar: Calendar
  readonly mirror: Mirror
  readonly failClosed: boolean
  directory(): Directory
  entityOf(budget: Budget): Entity
  sessionOf(ctx: RequestContext): SessionCap | null
  estimate(ctx: RequestContext): Estimate
}

export interface Admission {
  /** Hook `request`: what is used up refuses before a cache answers. */
  check(ctx: RequestContext): Promise<void> | undefined
  /** Hook `admit`. */
  reserve(ctx: RequestContext): Promise<void> | undefined
}

/** Share of a limit that one request may keep back when its caller gave no bound. */
const IMPLICIT_SHARE = 10
/** An outage is said once in this time, not once a request. */
const SAID_AGAIN_MS = 600_000
/** Takes nothing: it is asked only whether the shared store answers. */
const PROBE = { perMinute: 1_000_000_000 }

export function admission(sources: AdmissionSources): Admission {
  const { gateway, ledger, slot, calendar, mirror, failClosed } = sources
  const { clock, log, counters, db } = gateway
  let saidAt = Number.NEGATIVE_INFINITY

  return {
    check(ctx) {
      const budgets = sources.directory().of(ctx)
      const session = sources.sessionOf(ctx)
      if (budgets.length === 0 && session === null) return undefined
      const applied: Applied = { budgets, session, held: [], refusedBy: null }
      slot.set(ctx, applied)
      const [now, monotonic] = [clock.now(), clock.monotonic()]
      const suspects = budgets.filter((budget) => {
        const known = mirror.of(accountAt(budget, ctx), monotonic)
        return known === undefined || known.spentNano >= limitOf(budget, now)
      })
      return suspects.length === 0 ? undefined : confirm(ctx, applied, suspects)
    },
    reserve(ctx) {
      const applied = slot.get(ctx)
      if (applied === undefined) return undefined
      if (!failClosed) return hold(ctx, applied)
      const looked = counters.take('probe', PROBE, 0)
      if (looked instanceof Promise) return looked.then((result) => refuseDegraded(result)).then(() => hold(ctx, applied))
      refuseDegraded(looked)
      return hold(ctx, applied)
    },
  }

  /** Only what the database says refuses. */
  async function confirm(ctx: RequestContext, applied: Applied, suspects: readonly Budget[]): Promise<void> {
    let spent: readonly { spentNano: number }[]
    try {
      spent = await mirror.read(
        db,
        suspects.map((budget) => accountAt(budget, ctx)),
      )
    } catch (error) {
      return cannotVerify(error)
    }
    const now = clock.now()
    const refusing = suspects.find((budget, index) => (spent[index]?.spentNano ?? 0) >= limitOf(budget, now))
    if (refusing !== undefined) throw refusal(ctx, applied, refusing, true)
  }

  function hold(ctx: RequestContext, applied: Applied): undefined {
    const { nano, leastNano, explicit } = sources.estimate(ctx)
    const now = clock.now()
    const amountOf = (limit: number) =>
      explicit ? nano : Math.max(leastNano, Math.min(nano, Math.floor(limit / IMPLICIT_SHARE)))
    const held: Hold[] = []
    for (const budget of applied.budgets) {
      const limitNano = limitOf(budget, now)
      held.push({
        ...accountAt(budget, ctx),
        amountNano: amountOf(limitNano),
        limitNano,
        refuse: () => refusal(ctx, applied, budget, false),
      })
    }
    if (applied.session !== null) held.splice(behindKeys(applied.budgets), 0, sessionHold(applied, applied.session, amountOf))
    applied.held = held
    ledger.hold(ctx, held, cannotVerify)
  }

  function sessionHold(applied: Applied, { account, limit, sessionId }: SessionCap, amountOf: (limit: number) => number): Hold {
    return {
      ...account,
      amountNano: amountOf(limit),
      limitNano: limit,
      idleMs: SESSION_IDLE_MS,
      refuse() {
        applied.refusedBy = 'session'
        return sessionExhausted(sessionId, limit)
      },
    }
  }

  function accountAt(budget: Budget, ctx: RequestContext) {
    return accountOf(budget, calendar.at(budget.window, ctx.startedAt))
  }

  function refusal(ctx: RequestContext, applied: Applied, budget: Budget, usedUp: boolean): Error {
    applied.refusedBy = budget
    const { end: windowEnd } = calendar.at(budget.window, ctx.startedAt)
    const now = clock.now()
    const { label } = sources.entityOf(budget)
    return budgetExhausted({ budget, label, limit: limitOf(budget, now), windowEnd, now, usedUp })
  }

  function cannotVerify(error: unknown): void {
    if (failClosed) throw error
    const now = clock.monotonic()
    if (now - saidAt < SAID_AGAIN_MS) return
    saidAt = now
    log.warn('budgets.unverified', { hint: 'Requests continue without a reservation.', error: String(error) })
  }

  function refuseDegraded({ degraded }: TakeResult): void {
    if (degraded) throw storageUnavailable('the shared store does not answer, and budgets are to be verified.')
  }
}

/** A session is its key's: it is named after it. */
function behindKeys(budgets: readonly Budget[]): number {
  const at = budgets.findIndex(({ scope }) => scope !== 'key')
  return at === -1 ? budgets.length : at
}
