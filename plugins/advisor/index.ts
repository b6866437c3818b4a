// The advisor: says with evidence what would cost less or fail less, changes it on request, watches the result and takes it back.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import { calendarOf } from '../../core/timing/calendar.ts'
import { actionsOn } from './actions/actions.ts'
import { advisorRoutes } from './api.ts'
import { takenBackFacts } from './attention.ts'
import { digestRoute } from './digest/route.ts'
import { sendDigests } from './digest/sending.ts'
import { DAY_MS, WINDOW_DAYS } from './facts.ts'
import { migrations } from './migrations.ts'
import { forgetObserved } from './observed.ts'
import { Observer } from './observer.ts'
import { Advisor } from './recommend.ts'
import { MOST_PER_SECOND } from './sampler.ts'

const FLUSH_MS = 60_000
const WATCH_MS = 60_000
const DIGEST_MS = 5 * 60_000

/** Provides the service `advisor`. */
export const advisor = definePlugin({
  name: 'advisor',
  requires: ['ledger', 'virtual-models', 'keys'],
  config: z.strictObject({
    /** USD of a calendar month that the owner plans with; null: none. */
    monthlyBudgetUsd: z.number().min(0).nullable().default(null),
    timezone: z.string().default('UTC').meta({ env: 'BUDGET_TIMEZONE' }),
    /** Requests per second whose prompts are compared with each other; 0: prompts are not read. */
    samplesPerSecond: z.int().min(0).max(1000).default(MOST_PER_SECOND),
    usageRetentionDays: z.int().default(30).meta({ env: 'USAGE_RETENTION_DAYS' }),
  }),
  variables: {
    MONTHLY_BUDGET_USD: {
      option: 'monthlyBudgetUsd',
      about: 'Planned cost of a month, USD. The advisor warns when it will be exceeded.',
    },
    ADVISOR_SAMPLES_PER_SECOND: {
      option: 'samplesPerSecond',
      about: 'Requests per second whose prompts the advisor compares. 0: it does not read prompts.',
    },
  },
  migrations,
  setup(gateway, { monthlyBudgetUsd, timezone, samplesPerSecond, usageRetentionDays }) {
    const { db, clock } = gateway
    const calendar = calendarOf(timezone)
    const modelFacts = gateway.optional('modelFacts')
    const settings = gateway.optional('runtimeSettings')
    const advisor = new Advisor({
      gateway,
      calendar,
      retentionDays: usageRetentionDays,
      monthlyBudgetUsd,
      price: (orgId, provider, model) => modelFacts()?.facts(provider, model, orgId).price,
      changesSettings: () => settings() !== undefined,
    })
    const actions = actionsOn(gateway, advisor, settings)
    const observer = new Observer(samplesPerSecond)

    gateway.provide('advisor', { recommendations: async (orgId) => (await advisor.of(orgId, clock.now())).data })
    gateway.hook(
      'settle',
      (ctx, outcome) => {
        if (ctx.parent === null && ctx.ingress !== null) observer.settled(ctx, outcome, clock.now())
      },
      { operation: 'chat', onError: 'open' },
    )
    advisorRoutes(gateway, advisor, actions)
    digestRoute(gateway, advisor, calendar)
    gateway.every('flush', FLUSH_MS, () => observer.sums.flush(db))
    gateway.every('watch', WATCH_MS, () => actions.watch(), { once: true })
    gateway.every('digest', DIGEST_MS, () => sendDigests(gateway, advisor, calendar), { once: true })
    gateway.every('forget', DAY_MS / 24, () => forgetObserved(db, clock.now() - (WINDOW_DAYS + 1) * DAY_MS), { once: true })
    const silence = gateway.use('attention').contribute('advisor', takenBackFacts(db, clock))
    return () => {
      silence()
      return observer.sums.flush(db)
    }
  },
})

export default advisor
