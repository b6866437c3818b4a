// Supports Helicone's request headers. They are read and removed before the key is checked. A request without any costs one pass over its
// header names.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { cacheWishes } from './cache-directives.ts'
import { failover, readFallbacks } from './fallbacks.ts'
import { hasHelicone, isTrue, strip } from './headers.ts'
import { providerHosts } from './provider-hosts.ts'
import { ratePolicies, readRatePolicy } from './rate-policy.ts'
import { type Asked, adoptKey, answerHeaders, costCenterIn, propertiesIn } from './request-headers.ts'
import { claimRequestId, forgetRequestIds, migrations, requestIdIn } from './request-ids.ts'
import { readRetry, retrying } from './retry.ts'

export const helicone = definePlugin({
  name: 'helicone',
  requires: ['keys', 'accounts', 'configuration'],
  config: z.strictObject({
    usageRetentionDays: z.int().default(30).meta({ env: 'USAGE_RETENTION_DAYS' }),
    logRetentionDays: z.int().min(0).default(30).meta({ env: 'LOG_RETENTION_DAYS' }),
  }),
  migrations,
  setup(gateway, { usageRetentionDays, logRetentionDays }) {
    const keys = gateway.use('keys')
    const caches = gateway.optional('exactCache')
    const cachePolicy = gateway.optional('cachePolicy')
    const guardrails = gateway.optional('guardrails')
    const requestLog = gateway.optional('requestLog')
    const shadow = gateway.optional('shadow')
    const providerAt = providerHosts(gateway.use('accounts'), gateway.use('configuration'))
    const rates = ratePolicies(gateway.counters, keys)
    const slot = gateway.slot<Asked>()
    const asks = (wanted: (asked: Asked, ctx: RequestContext) => boolean) => (ctx: RequestContext) => {
      const asked = slot.get(ctx)
      return asked !== undefined && wanted(asked, ctx)
    }
    const askedBy = (ctx: RequestContext): Asked => slot.get(ctx) as Asked

    gateway.hook(
      'ingress',
      (ctx) => {
        const { headers } = ctx
        adoptKey(headers, keys)
        const directives = cacheWishes(headers)
        if (directives !== null) caches()?.request(ctx, directives)
        if (isTrue(headers, 'helicone-llm-security-enabled') || isTrue(headers, 'helicone-prompt-security-enabled'))
          guardrails()?.tighten(ctx)
        const omitted = { request: isTrue(headers, 'helicone-omit-request'), answer: isTrue(headers, 'helicone-omit-response') }
        if (omitted.request || omitted.answer) {
          requestLog()?.omit(ctx, omitted)
          shadow()?.omit(ctx)
        }
        const properties = propertiesIn(headers)
        if (properties !== null) ctx.properties = { ...ctx.properties, ...properties }
        const costCenter = costCenterIn(headers)
        if (costCenter !== null && !headers.has('x-gateway-cost-center')) headers.set('x-gateway-cost-center', costCenter)
        slot.set(ctx, {
          requestId: requestIdIn(headers),
          retry: readRetry(headers),
          rate: readRatePolicy(headers.get('helicone-ratelimit-policy')),
          fallbacks: readFallbacks(headers.get('helicone-fallbacks')),
          targetUrl: headers.get('helicone-target-url') ?? headers.get('helicone-openai-api-base'),
          streamUsage: isTrue(headers, 'helicone-stream-usage'),
          chosen: null,
          codes: null,
        })
        // The ids are parsed from headers on first use: read them before the headers are removed.
        ctx.sessionId = ctx.sessionId ?? null
        ctx.userId = ctx.userId ?? null
        strip(headers)
        answerHeaders(ctx, caches)
      },
      { order: 'pre', when: ({ headers }) => hasHelicone(headers) },
    )

    // Only for admitted callers, because each claim writes a row.
    gateway.hook(
      'access',
      async (ctx) => {
        const id = askedBy(ctx).requestId as string
        if (!(await claimRequestId(gateway, id))) return
        ctx.identify(id)
        ctx.responseHeaders.set('helicone-id', id)
      },
      { order: 'pre', when: asks(({ requestId }) => requestId !== null) },
    )
    forgetRequestIds(gateway, [usageRetentionDays, logRetentionDays])

    gateway.hook('access', (ctx) => rates.check(ctx, askedBy(ctx).rate), {
      order: 'post',
      after: 'rate-limits',
      when: asks(({ rate }, { scope }) => rate !== null && scope !== 'none'),
    })
    gateway.hook('settled', (ctx, outcome) => rates.book(ctx, askedBy(ctx).rate, outcome), {
      when: asks(({ rate }) => rate !== null),
    })

    // Runs after virtual models, which own their names, and before bare ids are looked up.
    gateway.hook(
      'resolve',
      (ctx) => {
        const asked = askedBy(ctx)
        const provider = providerAt(ctx, asked.targetUrl as string)
        if (provider === null || ctx.requestedModel === '' || ctx.requestedModel.includes('/')) return undefined
        asked.chosen = provider
        const target = { provider, model: ctx.requestedModel, connectionId: null, weight: 1 }
        return { targets: [target], strategy: 'direct', virtualModel: null }
      },
      { when: asks(({ targetUrl }) => targetUrl !== null) },
    )

    const { extend, attempt } = failover(providerAt, askedBy)
    gateway.hook('request', extend, { order: 'pre', when: asks(({ fallbacks }, ctx) => fallbacks !== null && isChat(ctx)) })
    gateway.hook(
      'request',
      (ctx) => {
        const { includeUsage } = ctx.request
        if (includeUsage !== true) ctx.edit().includeUsage = true
      },
      { operation: 'chat', when: asks(({ streamUsage }, ctx) => streamUsage && ctx.dialect === 'chat' && ctx.stream) },
    )
    gateway.hook('attempt', attempt, { order: 'pre', before: 'resilience', when: asks(({ codes }) => codes !== null) })
    gateway.hook(
      'attempt',
      (ctx, _candidate, next) => retrying(ctx, next, askedBy(ctx).retry as NonNullable<Asked['retry']>, gateway.clock),
      { order: 'post', after: 'resilience', when: asks(({ retry }) => retry !== null) },
    )

    gateway.hook('ready', () =>
      // Fallbacks and host come from headers, so they must be part of the cache key.
      cachePolicy()?.version('helicone', (ctx) => {
        const asked = slot.get(ctx)
        if (asked === undefined || (asked.chosen === null && asked.codes === null)) return null
        return JSON.stringify([asked.chosen, (ctx.plan?.targets ?? []).map(({ provider, model }) => [provider, model])])
      }),
    )
  },
})

function isChat({ operation }: RequestContext): boolean {
  return operation === 'chat'
}

export default helicone
