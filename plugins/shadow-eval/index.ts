// Shadow evaluation: asks a cheaper model the same as a sample of the answered requests, and scores its answers. Callers notice nothing.
import { z } from 'zod'
import { systemRandom } from '../../core/ids/system-random.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { shadowRoutes } from './api.ts'
import { replayCalls } from './calls.ts'
import { type Captured, captureSamples } from './capture.ts'
import { challengersOf } from './challenger.ts'
import { migrations } from './migrations.ts'
import { scoreReader } from './scores.ts'
import { scorer } from './scoring/scorer.ts'
import { dayOf, spendingOf } from './spending.ts'
import { sampleStore } from './store.ts'
import { replayWorker } from './worker.ts'

const DAY_MS = 86_400_000
const REPLAY_MS = 15_000
const REFRESH_MS = 60_000
const PRUNE_MS = 10 * 60_000
const KEPT_DAYS = 30
const NANO = 1e9

const model = z
  .string()
  .regex(/^[^/\s]+\/\S+$/, 'must be a model like openai/gpt-4.1-mini')
  .max(512)

/** Provides the service `shadow`. */
export const shadowEval = definePlugin({
  name: 'shadow-eval',
  requires: ['ledger', 'keys', 'connections', 'estimates', 'modelFacts', 'modelCatalogue', 'virtualModels', 'routePreview'],
  config: z.strictObject({
    /** USD that replays and their judges may cost in a UTC day, over all organizations and processes. */
    dailyUsd: z.number().min(0).max(1_000_000).default(5),
    /** Samples and scores are deleted after this time. */
    ttlDays: z.int().min(1).max(365).default(7),
    /** Draws samples and the first place in a judgement, in [0, 1). */
    random: z.custom<() => number>((value) => typeof value === 'function', 'must be a function').default(() => systemRandom),
  }),
  settings: {
    'shadow.enabled': z.boolean().default(false),
    'shadow.sample_rate': z.number().min(0).max(1).default(0.02),
    /** The model that compares answers; null: embeddings, or else words. */
    'shadow.judge_model': model.nullable().default(null),
    /** Globs over `provider/model` that replays may go to; none: every model that is allowed otherwise. */
    'shadow.challengers': z.array(z.string().min(1).max(256)).max(100).default([]),
    /** True: nothing of this organization is sampled. */
    'shadow.opt_out': z.boolean().default(false).meta({ scope: 'organization' }),
  },
  variables: {
    SHADOW_EVAL_ENABLED: {
      setting: 'shadow.enabled',
      about: 'Ask a cheaper model the same as a sample of the requests, and compare.',
    },
    SHADOW_SAMPLE_RATE: { setting: 'shadow.sample_rate', about: 'Share of the answered requests that are sampled.' },
    SHADOW_DAILY_USD_BUDGET: { option: 'dailyUsd', about: 'Most that replays and their judges may cost in a UTC day, USD.' },
    SHADOW_TTL_DAYS: { option: 'ttlDays', about: 'How long samples and their scores are kept, days.' },
  },
  migrations,
  async setup(gateway, { dailyUsd, ttlDays, random }) {
    const { db, clock, settings } = gateway
    const keys = gateway.use('keys')
    const store = sampleStore(db)
    const spending = spendingOf(db, Math.round(dailyUsd * NANO))
    const scores = scoreReader(db, () => clock.now())
    const calls = replayCalls(gateway)
    const slot = gateway.slot<Captured>()
    const isOn = settings.compiled((get) => get('shadow.enabled') && get('shadow.sample_rate') > 0 && !get('shadow.opt_out'))
    const worker = replayWorker({
      gateway,
      store,
      spending,
      calls,
      scorer: scorer({ gateway, calls, random, judgeModel: () => settings.get('shadow.judge_model') }),
      active: (orgId) => !settings.get('shadow.opt_out', orgId),
    })

    gateway.provide('shadow', {
      omit: (ctx) => slot.set(ctx, 'omitted'),
      scores: scores.scores,
      pairs: scores.pairs,
      known: scores.known,
    })
    const close = captureSamples({
      gateway,
      slot,
      store,
      challengers: challengersOf(gateway, () => settings.get('shadow.challengers')),
      ttlMs: ttlDays * DAY_MS,
      takes: (ctx: RequestContext) => isOn(ctx.principal.orgId) && keys.of(ctx)?.shadowOptOut !== true,
      drawn: () => worker.stoppedUntil === 0 && spending.capNano > 0 && random() < settings.get('shadow.sample_rate'),
    })
    const set = () => ({ enabled: settings.get('shadow.enabled'), sampleRate: settings.get('shadow.sample_rate') })
    // A route sees the rows of its caller's organization only, and memory holds those of all.
    const refresh = gateway.detached(() => scores.refresh())
    shadowRoutes(gateway, { store, spending, scores, worker, set, refresh })
    gateway.hook('ready', () => scores.refresh())
    const replay = async (signal: AbortSignal): Promise<void> => {
      if (settings.get('shadow.enabled')) await worker.run(signal)
    }
    const prune = async (): Promise<void> => {
      await store.prune(clock.now())
      await spending.forget(dayOf(clock.now() - KEPT_DAYS * DAY_MS))
    }
    gateway.every('replay', REPLAY_MS, replay, { once: true })
    gateway.every('refresh', REFRESH_MS, () => scores.refresh())
    gateway.every('prune', PRUNE_MS, prune, { once: true })
    return close
  },
})

export default shadowEval
