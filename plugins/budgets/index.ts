// Budgets: spending limits of organizations, virtual models, keys and sessions. The ledger keeps the accounts; this plugin selects the
// accounts of a request, the amount to reserve, and the events to emit.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { isReplay } from '../../core/records/replays.ts'
import { calendarOf } from '../../core/timing/calendar.ts'
import { type Applied, admission } from './admission.ts'
import { SUBSCRIPTIONS } from './alerts/announcement.ts'
import { evaluator } from './alerts/evaluator.ts'
import { notFoundText } from './api/fields.ts'
import { budgetRoutes } from './api/routes.ts'
import { budgetMetrics, statusOf } from './api/status.ts'
import { budgetFacts } from './attention.ts'
import { BudgetDirectory, type Entities, entityOf, ofOrganization, sessionCap } from './directory.ts'
import { upstreamDialects } from './estimate/calls.ts'
import { estimator, type FactsOf, ownCallEstimator, tokenEstimator } from './estimate/estimate.ts'
import { withMarkup } from './estimate/markup.ts'
import { toolShares } from './estimate/server-tools.ts'
import { forgetSums } from './forgotten.ts'
import { defaultKeyBudget } from './key-budget.ts'
import { migrations } from './migrations.ts'
import { mirror, REFRESH_MS } from './mirror.ts'
import { portableBudgets } from './portable.ts'
import { budgetResource, MAX_USD, nanoOf } from './resource.ts'
import { recountForZone, recounts } from './restate.ts'
import type { Budget } from './service.ts'
import { loadBudgets, renewBudgets } from './store.ts'
import { accountAt } from './window.ts'

const usd = z.number().min(0).max(MAX_USD).nullable().default(null)
const LOOK_MS = 30_000

/** Provides the services `budgets` and `estimates`. */
export const budgets = definePlugin({
  name: 'budgets',
  requires: ['ledger', 'keys'],
  config: z.strictObject({
    /** IANA zone of calendar windows. */
    timezone: z.string().default('UTC').meta({ env: 'BUDGET_TIMEZONE' }),
    /** Answers 503 when budgets apply and cannot be verified. */
    failClosed: z.boolean().default(false),
    /** Spending limit of a session whose key sets none; 0 or null = no limit. */
    sessionUsd: usd,
    /** The budget of each new key; 0 or null = none. */
    defaultKeyUsd: usd,
    defaultKeyWindow: z.string().default('monthly'),
    /** 0 or null = no limit. */
    maxKeyUsd: usd,
    /** Maximum length of a temporary increase; 0 = unlimited. */
    maxIncreaseDays: z.int().min(0).default(90),
    /** For prompt content outside the request: reserve the model's whole context window, or refuse with 400. */
    unknownPrompt: z.enum(['reserve', 'refuse']).default('reserve'),
    /** Reservation for tools that run at the vendor, by kind. */
    serverTools: toolShares.default({}),
  }),
  variables: {
    SESSION_BUDGET_USD: { option: 'sessionUsd', about: 'Spending limit of a session whose key sets none.' },
    BUDGET_FAIL_CLOSED: { option: 'failClosed', about: 'Answer 503 when budgets cannot be verified.' },
    BUDGET_UNKNOWN_PROMPT: {
      option: 'unknownPrompt',
      about:
        'A prompt that is stored at the vendor or behind a URL: `reserve` reserves the model’s whole window, `refuse` answers 400.',
    },
    DEFAULT_KEY_BUDGET_USD: { option: 'defaultKeyUsd', about: 'Hard limit of the budget that each new key gets.' },
    DEFAULT_KEY_BUDGET_WINDOW: {
      option: 'defaultKeyWindow',
      about:
        'Window of that budget: hourly, daily, weekly, monthly, yearly or lifetime. With another value new keys get no budget.',
    },
    MAX_KEY_BUDGET_USD: { option: 'maxKeyUsd', about: 'Highest hard limit of a key budget.' },
    MAX_BUDGET_INCREASE_DAYS: { option: 'maxIncreaseDays', about: 'Longest temporary budget increase, days; 0 = unbounded.' },
  },
  events: SUBSCRIPTIONS,
  migrations,
  async setup(gateway, config) {
    const { clock, db, log } = gateway
    const ledger = gateway.use('ledger')
    const keys = gateway.use('keys')
    const { providerId, provider } = gateway.use('configuration')
    const connections = gateway.optional('connections')
    const virtualModels = gateway.optional('virtualModels')
    const modelFacts = gateway.optional('modelFacts')
    const outbox = gateway.optional('outbox')
    const entities: Entities = { keys, virtualModels }
    const whose = (budget: Budget) => entityOf(budget, entities)

    const calendar = calendarOf(config.timezone)
    if (calendar.zone === 'UTC' && config.timezone.toUpperCase() !== 'UTC')
      log.warn('budgets.unknown_timezone', {
        hint: 'GATEWAY_BUDGET_TIMEZONE is not a known time zone. Budget windows are in UTC.',
        timezone: config.timezone,
      })
    const view = await gateway.view('living', loadBudgets, renewBudgets)
    const directory = new BudgetDirectory(view.current, entities)
    view.watch((living, changed) => directory.take(living, changed))

    const known = mirror(ledger)
    const slot = gateway.slot<Applied>()
    const sessionNano = nanoOf(config.sessionUsd ?? 0)
    const looks = evaluator({
      gateway,
      calendar,
      mirror: known,
      budgets: () => directory.byId,
      entityOf: whose,
      outbox,
    })
    const factsOf: FactsOf = (provider, model, orgId) => modelFacts()?.facts(provider, model, orgId)
    const compiledModels = {
      named: (orgId: number | null, name: string) => virtualModels()?.named(orgId, name) ?? null,
      providerId,
    }
    const rules = {
      ...config,
      dialectsOf: upstreamDialects(connections, provider),
      operations: gateway.use('operations'),
      connections,
      prices: gateway.optional('prices'),
    }
    gateway.provide('estimates', {
      tokens: tokenEstimator(factsOf, compiledModels, rules),
      ownCall: ownCallEstimator(factsOf),
    })
    const gate = admission({
      gateway,
      ledger,
      slot,
      calendar,
      mirror: known,
      failClosed: config.failClosed,
      directory,
      entityOf: whose,
      sessionOf: (ctx) => sessionCap(ctx, keys, sessionNano),
      estimate: withMarkup(estimator(factsOf, compiledModels, rules), rules.prices),
    })
    const counted = budgetMetrics(gateway, () => directory.byId, known, calendar)

    // Runs after hooks that change or block the request, and before any cache answers it.
    gateway.hook('request', gate.check, { order: 'post' })
    gateway.hook('admit', gate.reserve)
    gateway.hook('settle', (ctx, { chargeNano }) => {
      if (!chargeNano || isReplay(ctx)) return
      const applied = slot.get(ctx)
      const held = applied?.held ?? []
      const accounts = directory.of(ctx).map((budget) => accountAt(budget, calendar, ctx.startedAt))
      if (applied?.session) accounts.push(applied.session.account)
      // Budgets that were created, or moved to another window, during the request.
      const late = accounts.filter(
        ({ name, windowStart }) => !held.some((one) => one.name === name && one.windowStart === windowStart),
      )
      if (late.length > 0) ledger.charge(ctx, late)
    })
    gateway.hook('settled', (ctx, { status }) => {
      const refusedBy = status === 402 ? (slot.get(ctx)?.refusedBy ?? null) : null
      if (refusedBy === null) return
      counted.rejected(refusedBy === 'session' ? 'session' : refusedBy.scope)
      if (refusedBy !== 'session') looks.rejected(refusedBy, ctx.id)
    })
    const unlisten = ledger.onBooked(looks.booked)
    forgetSums(gateway, ledger)

    const warned = new Set<number>()
    const look = async (): Promise<void> => {
      for (const budget of directory.byId.values()) {
        const entity = whose(budget)
        if (entity.found) warned.delete(budget.id)
        else if (!warned.has(budget.id)) {
          warned.add(budget.id)
          log.warn(notFoundText(budget, entity), { budget: budget.id })
        }
      }
      await looks.all()
    }
    gateway.hook('ready', look)
    gateway.every('look', LOOK_MS, look)
    gateway.every('balances', REFRESH_MS, () => known.refresh(db, clock.monotonic()))

    const list = (orgId: number | null) => ofOrganization(view.current, orgId)
    gateway.provide('budgets', {
      list,
      get: (orgId, id) => {
        const budget = view.current.get(id)
        return budget?.orgId === orgId ? budget : null
      },
    })
    const counts = recounts({ gateway, ledger, calendar, budgets: () => directory.byId, entityOf: whose })
    gateway.hook('ready', () => recountForZone(db, calendar.zone, directory.byId.values(), counts.now))
    const maxKeyUsd = config.maxKeyUsd ?? 0
    gateway.resource(budgetResource(gateway, view, { maxKeyUsd, recount: counts.now }))
    gateway.portable(portableBudgets({ gateway, view, entities, recounts: counts }))
    const status = { db, clock, calendar, mirror: known, entityOf: whose }
    budgetRoutes({
      gateway,
      view,
      entities,
      recounts: counts,
      maxKeyUsd,
      maxIncreaseDays: config.maxIncreaseDays,
      timeZone: calendar.zone,
      shown: (living) => statusOf(living, status),
    })
    const silence = gateway.use('attention').contribute('budgets', budgetFacts(list, status, config.maxIncreaseDays))
    const forgetKeys = defaultKeyBudget(gateway, view, {
      usd: config.defaultKeyUsd ?? 0,
      window: config.defaultKeyWindow,
      maxUsd: maxKeyUsd,
    })
    return async () => {
      silence()
      unlisten()
      forgetKeys()
      counts.close()
      await looks.close()
    }
  },
})

export default budgets
