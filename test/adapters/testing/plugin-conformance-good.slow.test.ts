// Twenty correct plugins, most of them the recipes of the docs, pass every case of the conformance kit.
import { afterAll, describe, it } from 'vitest'
import { pluginConformance } from '../../../adapters/testing/plugin-conformance/plugin-conformance.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { holdBack } from '../../../core/stream/hold-back.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { abSplit } from '../../../examples/recipes/ab-split.ts'
import { answerCache } from '../../../examples/recipes/answer-cache.ts'
import { blockPreviews } from '../../../examples/recipes/block-previews.ts'
import { budgetChat } from '../../../examples/recipes/budget-chat.ts'
import { cannedAnswer } from '../../../examples/recipes/canned-answer.ts'
import { dailyQuota } from '../../../examples/recipes/daily-quota.ts'
import { dailyReport } from '../../../examples/recipes/daily-report.ts'
import { euOnly } from '../../../examples/recipes/eu-only.ts'
import { guardrailService } from '../../../examples/recipes/guardrail-service.ts'
import { houseStyle } from '../../../examples/recipes/house-style.ts'
import { httpOutbox } from '../../../examples/recipes/http-outbox.ts'
import { kafkaSink } from '../../../examples/recipes/kafka-sink.ts'
import { parallelLimit } from '../../../examples/recipes/parallel-limit.ts'
import { redactEmails } from '../../../examples/recipes/redact-emails.ts'
import { retryOnce } from '../../../examples/recipes/retry-once.ts'
import { routeByHeader } from '../../../examples/recipes/route-by-header.ts'
import { teamModel } from '../../../examples/recipes/team-model.ts'
import { topModelsRoute } from '../../../examples/recipes/top-models-route.ts'
import { whoamiRoute } from '../../../examples/recipes/whoami-route.ts'
import { sinkServer } from './sink-server.ts'

const sink = await sinkServer({ allowed: true })
afterAll(() => sink.close())
const { url } = sink

const codeNames = definePlugin({
  name: 'code-names',
  setup(gateway) {
    const names = holdBack({ pattern: /\bAnna\b/g, replace: 'A.', window: 16 })
    gateway.hook('stream', () => names.stream(), { operation: 'chat' })
    gateway.hook('response', (_ctx, response) => names.response(response), { operation: 'chat' })
  },
})

const GOOD: Readonly<Record<string, () => Plugin>> = {
  'ab-split': () =>
    abSplit({ name: 'a', a: { provider: 'chat', model: 'm' }, b: { provider: 'messages', model: 'm' }, shareOfB: 0.5 }),
  'answer-cache': () => answerCache({}),
  'block-previews': () => blockPreviews({}),
  'budget-chat': () => budgetChat({ url }),
  'canned-answer': () => cannedAnswer({}),
  'code-names': () => codeNames(),
  'daily-quota': () => dailyQuota({ tokens: 1_000_000 }),
  'daily-report': () => dailyReport({ url }),
  'eu-only': () => euOnly({ providers: ['chat', 'messages', 'responses', 'generate_content'] }),
  'guardrail-service': () => guardrailService({ url, timeoutMs: 10_000 }),
  'house-style': () => houseStyle({ text: 'Answer in one sentence.' }),
  'http-outbox': () => httpOutbox({ url }),
  'kafka-sink': () => kafkaSink({ producer: { send: async () => {} } as never, topic: 'requests' }),
  'parallel-limit': () => parallelLimit({}),
  'redact-emails': () => redactEmails(),
  'retry-once': () => retryOnce({ pauseMs: 1 }),
  'route-by-header': () => routeByHeader({ models: { premium: 'messages/m' } }),
  'team-model': () => teamModel({ teams: { red: { provider: 'chat', model: 'm' } } }),
  'top-models-route': () => topModelsRoute({}),
  'whoami-route': () => whoamiRoute(),
}

describe.each(Object.entries(GOOD))('%s', (_, make) => {
  for (const { name, run } of pluginConformance(make, { latencyMs: 500 })) it(name, run, 60_000)
})
