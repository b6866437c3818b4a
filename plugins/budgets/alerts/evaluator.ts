// Emits budget events, off the request's path. It compares levels instead of bookings, so a crash between a booking and the evaluation
// loses no event.

import type { Calendar, Window } from '../../../core/timing/calendar.ts'
import type { PluginGateway, Services } from '../../../core/types/plugin/plugin.ts'
import type { Timer } from '../../../core/types/ports/ports.ts'
import type { Entity } from '../directory.ts'
import { limitOf, projected } from '../limit.ts'
import type { Known, Mirror } from '../mirror.ts'
import type { Budget } from '../service.ts'
import { accountOf, type BudgetAccount, budgetIdOf } from '../window.ts'
import { announce, type BudgetLevel } from './announcement.ts'
import { AlertHistory, allStates } from './states.ts'

export interface Evaluator {
  /** Call it after a settlement that booked to these accounts. */
  booked(accounts: readonly BudgetAccount[], requestId: string): void
  /** Call it after a 402 of this budget. */
  rejected(budget: Budget, requestId: string): void
  /** Evaluates every budget. */
  all(): Promise<void>
  close(): Promise<void>
}

export interface EvaluatorSources {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock' | 'log' | 'events' | 'detached'>
  readonly calendar: Calendar
  readonly mirror: Mirror
  budgets(): ReadonlyMap<number, Budget>
  entityOf(budget: Budget): Entity
  outbox(): Services['outbox'] | undefined
}

const THRESHOLDS = [85, 95] as const
const CROSSED = { type: 'budget.crossed', threshold: 100 } as const
/** Time between two evaluations while bookings arrive. */
const PAUSE_MS = 100

interface Work {
  readonly budget: Budget
  readonly window: Window
  /** The last booking; `refusedBy`: the first refusal. */
  readonly bookedBy: string | null
  readonly refusedBy: string | null
}

export function evaluator(sources: EvaluatorSources): Evaluator {
  const { gateway, calendar, mirror } = sources
  const { db, clock, log, events } = gateway
  /** By budget and window. */
  const waiting = new Map<string, Work>()
  const history = new AlertHistory()
  let running: Promise<void> | null = null
  let pause: Timer | null = null
  let closed = false
  let failing = false

  return {
    booked(accounts, requestId) {
      for (const { name, windowStart } of accounts) {
        const id = budgetIdOf(name)
        const budget = id === null ? undefined : sources.budgets().get(id)
        if (budget?.enabled) add(budget, calendar.at(budget.window, windowStart), { bookedBy: requestId })
      }
      wake()
    },
    rejected(budget, requestId) {
      const now = clock.now()
      if (history.isQuiet(budget.id, CROSSED, now)) return
      add(budget, calendar.at(budget.window, now), { refusedBy: requestId })
      wake()
    },
    async all() {
      await running
      const now = clock.now()
      for (const budget of sources.budgets().values()) if (budget.enabled) add(budget, calendar.at(budget.window, now), {})
      await guarded(async () => history.replace(await allStates(db)))
      pause?.cancel()
      pause = null
      await running
      wake()
      await running
    },
    async close() {
      closed = true
      pause?.cancel()
      await running
    },
  }

  function add(budget: Budget, window: Window, { bookedBy = null, refusedBy = null }: Partial<Work>): void {
    const name = `${budget.id} ${window.start}`
    const before = waiting.get(name)
    waiting.set(name, {
      budget,
      window,
      bookedBy: bookedBy ?? before?.bookedBy ?? null,
      refusedBy: before?.refusedBy ?? refusedBy,
    })
  }

  function wake(): void {
    if (closed || running !== null || pause !== null || waiting.size === 0) return
    const batch = [...waiting.values()]
    waiting.clear()
    running = guarded(gateway.detached(() => look(batch))).finally(() => {
      running = null
      if (closed) return
      const again = (): void => {
        pause = null
        wake()
      }
      pause = clock.timer(PAUSE_MS, again, true)
    })
  }

  /** A failure is only logged: the regular evaluation finds the same, and a refusal is followed by others. */
  async function guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run()
      failing = false
    } catch (error) {
      if (!failing) log.warn('budgets.evaluation_failed', { error: String(error) })
      failing = true
    }
  }

  async function look(batch: readonly Work[]): Promise<void> {
    const accounts = batch.map(({ budget, window }) => accountOf(budget, window))
    const known = await mirror.read(db, accounts)
    for (const [index, work] of batch.entries()) await judge(work, known[index] as Known)
  }

  async function judge({ budget, window, bookedBy, refusedBy }: Work, known: Known): Promise<void> {
    const now = clock.now()
    const entity = sources.entityOf(budget)
    const isNews = (level: BudgetLevel) => history.isNews(budget.id, window.start, level, now)
    if (refusedBy === null && !levelsOf(budget, window, known, now).some(isNews)) return
    const account = accountOf(budget, window)
    const said = await db.tx(async (tx) => {
      const [balance] = (await mirror.read(tx, [account])) as [Known]
      const levels = levelsOf(budget, window, balance, now).map((level) => ({ ...level, requestId: bookedBy }))
      if (refusedBy !== null) levels.push({ ...CROSSED, above: true, requestId: refusedBy })
      return announce(tx, { budget, entity, window, spent: balance.spentNano, levels, now }, sources.outbox())
    })
    history.learn(budget.id, said.states)
    for (const { type, data } of said.events) events.emit(type, data, { orgId: budget.orgId })
  }
}

function levelsOf(budget: Budget, window: Window, { spentNano: spent, requests }: Known, now: number): BudgetLevel[] {
  const limit = limitOf(budget, now)
  // A limit of 0 has no thresholds.
  if (limit === 0) return []
  const levels: BudgetLevel[] = THRESHOLDS.map((threshold) => ({
    type: 'budget.threshold_crossed',
    threshold,
    above: BigInt(spent) * 100n >= BigInt(limit) * BigInt(threshold),
  }))
  const exceeds = spent < limit && (projected(window, spent, requests, now) ?? 0) > limit
  return [...levels, { type: 'budget.projected_exceeded', threshold: 100, above: exceeds }]
}
