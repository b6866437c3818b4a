// Rate limits: requests and tokens per minute of a key, and the gateway's default for callers without their own. Checked after the
// allow-list, so that a refused caller uses no quota.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { TakeResult } from '../../core/types/ports/ports.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import { overRate } from './refusal.ts'
import { ratesRoute } from './use.ts'

const MINUTE_MS = 60_000

export const rateLimits = definePlugin({
  name: 'rate-limits',
  requires: ['keys'],
  config: z.strictObject({
    /** Requests per minute of each key without its own limit, and of each anonymous address; 0 or null = none. */
    defaultRpm: z.int().min(0).nullable().default(null),
    /** Number of requests that may arrive at once; default: the rate. */
    defaultBurst: z.int().min(0).nullable().default(null),
  }),
  variables: {
    RATE_LIMIT_RPM: {
      option: 'defaultRpm',
      about: 'Requests per minute of each key without its own limit, and of each anonymous address.',
    },
    RATE_LIMIT_BURST: {
      option: 'defaultBurst',
      about: 'Requests of GATEWAY_RATE_LIMIT_RPM that may arrive at the same time. Default: the whole rate.',
    },
  },
  setup(gateway, { defaultRpm, defaultBurst }) {
    const keys = gateway.use('keys')
    const { counters } = gateway
    const bucket = defaultRpm ? { perMinute: defaultRpm, burst: defaultBurst || defaultRpm } : null

    const takeRequest = (ctx: RequestContext): { taken: ReturnType<typeof counters.take>; limit: number } | null => {
      const key = keys.of(ctx)
      if (key?.rateLimitRpm) {
        const limit = key.rateLimitRpm
        return { taken: counters.take(`rpm:${key.id}`, { perMinute: limit }), limit }
      }
      if (bucket === null) return null
      const who = key === null ? `ip:${ctx.ingress?.peer.address ?? 'unknown'}` : `key:${key.id}`
      return { taken: counters.take(`default:${who}`, bucket), limit: bucket.perMinute }
    }

    const refuse = (result: TakeResult, limit: number, unit: 'requests' | 'tokens'): void => {
      if (!result.ok) throw overRate(unit, limit, result.retryAfterMs)
    }

    gateway.hook(
      'access',
      (ctx) => {
        if (ctx.scope === 'none') return
        const request = takeRequest(ctx)
        if (request?.taken instanceof Promise)
          return request.taken.then((result) => {
            refuse(result, request.limit, 'requests')
            return checkTokens(ctx)
          })
        if (request) refuse(request.taken as TakeResult, request.limit, 'requests')
        return checkTokens(ctx)
      },
      { order: 'post' },
    )

    /** Checks against booked tokens: a request larger than the limit passes when the window is empty. */
    function checkTokens(ctx: RequestContext): Promise<void> | undefined {
      const limit = keys.of(ctx)?.rateLimitTpm
      if (!limit) return undefined
      const looked = counters.take(tokenKey(ctx), { perMinute: limit }, 0)
      if (looked instanceof Promise) return looked.then((result) => refuse(result, limit, 'tokens'))
      refuse(looked, limit, 'tokens')
    }

    gateway.hook('settled', (ctx, outcome) => {
      if (!keys.of(ctx)?.rateLimitTpm || outcome.cached !== false) return
      const tokens = tokensOf(outcome)
      if (tokens > 0) void counters.debit(tokenKey(ctx), tokens, MINUTE_MS)
    })

    ratesRoute(gateway)

    function tokenKey(ctx: RequestContext): string {
      return `tpm:${keys.of(ctx)?.id}`
    }
  },
})

/** Returns the tokens of all upstream calls of the request. */
function tokensOf({ steps, usage }: Outcome): number {
  return steps.length === 0 ? usage.total : steps.reduce((sum, step) => sum + step.usage.total, 0)
}

export default rateLimits
