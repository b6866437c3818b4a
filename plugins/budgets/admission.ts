// Checks budgets before a request is sent. An exhausted budget refuses it before any cache. The others reserve its maximum cost, and the
// first with too little left refuses it. A session's cap counts as a budget.
import { storageUnavailable } from '../../core/db/storage-fault.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Calendar } from '../../core/timing/calendar.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { TakeResult } from '../../core/types/ports/ports.ts'
import type { RequestContext, Slot } from '../../core/types/request/context.ts'
import { type BudgetDirectory, type Entity, SESSION_IDLE_MS, type SessionCap } from './directory.ts'
import type { Estimate } from './estimate/rules.ts'
import { limitOf } from './limit.ts'
import type { Mirror } from './mirror.ts'
import { NANO } from './resource.ts'
import type { Budget } from './service.ts'
import { accountOf } from './window.ts'

export type Hold = Parameters<Services['ledger']['hold']>[1][number]

/** The budgets that apply to a request. */
export interface Applied {
  readonly budgets: readonly Budget[]
  readonly session: SessionCap | null
  /** The reservations; the ledger books them. */
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
  readonly directory: BudgetDirectory
  entityOf(budget: Budget): Entity
  sessionOf(ctx: RequestContext): SessionCap | null
  estimate(ctx: RequestContext): Estimate
}

export interface Admission {
  /** For the hook `request`: exhausted budgets refuse before a cache answers. */
  check(ctx: RequestContext): Promise<void> | undefined
  /** For the hook `admit`. */
  reserve(ctx: RequestContext): Promise<void> | undefined
}

/** A request without an output limit may reserve at most this fraction of a limit (1/n). */
const IMPLICIT_SHARE = 10
/** An outage is logged once in this time, not for every request. */
const SAID_AGAIN_MS = 600_000
/** Takes nothing: the call only checks whether the shared store answers. */
const PROBE = { perMinute: 1_000_000_000 }

// The facts of a 402: the budget, and the text for the caller.
interface Spent {
  readonly budget: Budget
  readonly label: string | null
  /** Nano-USD. */
  readonly limit: number
  /** Epoch ms; null: never. */
  readonly windowEnd: number | null
  readonly now: number
  /** True when the budget is used up; false when the rest is too small for this request. */
  readonly usedUp: boolean
}

const SCOPES: Readonly<Record<Budget['scope'], (label: string) => string>> = {
  key: (label) => `client key \`${label}\``,
  virtual_model: (label) => `virtual model \`${label}\``,
  org: () => 'organization',
}

function budgetExhausted({ budget, label, limit, windowEnd, now, usedUp }: Spent): GatewayError {
  const whose = `The ${budget.window} budget of the ${SCOPES[budget.scope](label ?? String(budget.entityId ?? ''))}`
  const resets = windowEnd === null ? '' : `It resets at ${new Date(windowEnd).toISOString()}. `
  const what = usedUp
    ? `is used up: its limit is ${usd(limit)} USD. ${resets}Ask your gateway administrator to raise it.`
    : `does not cover the possible cost of this request: too little of its limit of ${usd(limit)} USD is free. Set a lower output limit, or wait until running requests end. ${resets}Ask your gateway administrator to raise it.`
  return GatewayError.budgetExhausted(`${whose} ${what}`, windowEnd === null ? null : Math.max(0, windowEnd - now))
}

/** A session's limit has no window, so there is no Retry-After. */
function sessionExhausted(sessionId: string, limit: number): GatewayError {
  const named = sessionId.replace(/[^\x20-\x7e]/g, '?').slice(0, 64)
  return GatewayError.budgetExhausted(
    `The session \`${named}\` may spend ${usd(limit)} USD, which does not cover this request. Start another session, or ask your gateway administrator to raise the limit.`,
  )
}

function usd(nano: number): string {
  return String(nano / NANO)
}

export function admission(sources: AdmissionSources): Admission {
  const { gateway, ledger, slot, calendar, mirror, failClosed } = sources
  const { clock, log, counters, db } = gateway
  let saidAt = Number.NEGATIVE_INFINITY

  return {
    check(ctx) {
      if (isFree(ctx)) return undefined
      const budgets = sources.directory.of(ctx)
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

  /** Only the database's values may refuse. */
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

/** Free calls count against no budget. */
function isFree({ plan }: RequestContext): boolean {
  return plan?.targets[0]?.shared?.free === true
}

/** Returns the place of a session's cap in the order: directly after the budgets of its key. */
function behindKeys(budgets: readonly Budget[]): number {
  const at = budgets.findIndex(({ scope }) => scope !== 'key')
  return at === -1 ? budgets.length : at
}
