// `Helicone-RateLimit-Policy: <quota>;w=<seconds>;u=request|cents;s=<user|property>`: a limit that a caller sets for its key or for each
// of its users. It applies in addition to the gateway's own limits.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Counters } from '../../core/types/ports/ports.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'

export interface RatePolicy {
  readonly quota: number
  readonly windowMs: number
  readonly unit: 'request' | 'cents'
  /** `user`, or the name of a property; null: the key. */
  readonly segment: string | null
}

const NANO_PER_CENT = 10_000_000
const MAX_QUOTA = 100_000_000
const MIN_WINDOW_S = 60
const MAX_WINDOW_S = 366 * 86_400

/** Returns null when there is none, or it is invalid. */
export function readRatePolicy(text: string | null): RatePolicy | null {
  const [quotaText = '', ...rest] = (text ?? '').split(';').map((part) => part.trim())
  const fields = new Map(rest.map((part) => [part.slice(0, 2).toLowerCase(), part.slice(2).trim()]))
  const quota = numberIn(quotaText)
  const seconds = numberIn(fields.get('w=') ?? '')
  const unit = (fields.get('u=') ?? 'request').toLowerCase()
  const segment = fields.get('s=')?.toLowerCase() || null
  if (quota < 1 || quota > MAX_QUOTA || seconds < MIN_WINDOW_S || seconds > MAX_WINDOW_S) return null
  if ((unit !== 'request' && unit !== 'cents') || (segment !== null && !/^[\w-]{1,64}$/.test(segment))) return null
  return { quota, windowMs: seconds * 1000, unit, segment }
}

export interface RatePolicies {
  /** @throws GatewayError 429. */
  check(ctx: RequestContext, policy: RatePolicy | null): Promise<void>
  /** Books the cost of a request for policies that count cents. */
  book(ctx: RequestContext, policy: RatePolicy | null, outcome: Outcome): Promise<void>
}

export function ratePolicies(counters: Counters, keys: Pick<Services['keys'], 'of'>): RatePolicies {
  /** Returns the counter's name. It contains the key or the client's address, so callers never share a counter. */
  const counterOf = (ctx: RequestContext, { windowMs, unit, segment }: RatePolicy): string => {
    const key = keys.of(ctx)
    const who = key === null ? `ip:${ctx.ingress?.peer.address ?? 'unknown'}` : `key:${key.id}`
    const part = segment === 'user' ? ctx.userId : segment === null ? null : (ctx.properties?.[segment] ?? null)
    return `${who}:${unit}:${windowMs}:${segment ?? ''}:${part ?? ''}`
  }
  return {
    async check(ctx, policy) {
      if (policy === null) return
      const counter = counterOf(ctx, policy)
      const perUnit = policy.unit === 'cents' ? NANO_PER_CENT : 1
      const limit = policy.quota * perUnit
      const say = (used: number): void => {
        const remaining = Math.max(0, Math.floor((limit - used) / perUnit))
        ctx.responseHeaders.set('helicone-ratelimit-limit', String(policy.quota))
        ctx.responseHeaders.set('helicone-ratelimit-remaining', String(remaining))
        ctx.responseHeaders.set('helicone-ratelimit-policy', textOf(policy))
      }
      const { total, endsInMs } = await counters.debit(counter, 0, policy.windowMs)
      say(total)
      if (total >= limit) throw overPolicy(policy, endsInMs)
      if (policy.unit === 'cents') return
      const taken = await counters.debit(counter, 1, policy.windowMs)
      say(taken.total)
      if (taken.total > limit) throw overPolicy(policy, taken.endsInMs)
    },
    async book(ctx, policy, outcome) {
      const nano = outcome.chargeNano ?? outcome.costNano ?? 0
      if (policy?.unit === 'cents' && nano > 0) await counters.debit(counterOf(ctx, policy), nano, policy.windowMs)
    },
  }
}

function overPolicy(policy: RatePolicy, endsInMs: number): GatewayError {
  const seconds = policy.windowMs / 1000
  return GatewayError.rateLimited(
    `Over the limit of ${policy.quota} ${policy.unit === 'cents' ? 'cents' : 'requests'} in ${seconds} s that this request's own \`Helicone-RateLimit-Policy\` sets. Wait, or raise it.`,
    Math.max(1, endsInMs),
  )
}

function textOf({ quota, windowMs, unit, segment }: RatePolicy): string {
  return `${quota};w=${windowMs / 1000};u=${unit}${segment === null ? '' : `;s=${segment}`}`
}

function numberIn(text: string): number {
  return /^\d{1,10}$/.test(text) ? Number(text) : -1
}
