// The limits of the free pool at admission: reserves the estimated tokens of a request in the windows of its organization and of all
// organizations, and says when a refused one fits.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway, Services } from '../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { accountsOf, dayEnd, firstMinute, fitsAt, GLOBAL, rangesOf, startsAt, WINDOW_NAMES, type WindowName } from './windows.ts'

type Ledger = Services['ledger']
type Cap = NonNullable<Parameters<Ledger['hold']>[3]>[number]

export type WindowLimits = Readonly<Record<WindowName, number | null>>

export interface PoolLimits {
  /** Tokens of one organization; null = no limit. */
  readonly org: WindowLimits
  /** Tokens of all organizations per UTC day; null = no limit. */
  readonly globalDay: number | null
}

export interface LimitSources {
  readonly gateway: Pick<PluginGateway, 'db' | 'clock'>
  readonly ledger: Pick<Ledger, 'hold' | 'balancesOf'>
  readonly limits: PoolLimits
  tokens: Services['estimates']['tokens']
}

/** A request without an output limit reserves at most this part of the smallest limit (1/n), but its whole prompt. */
const IMPLICIT_SHARE = 10
const SAID: Readonly<Record<WindowName, string>> = { hour: 'an hour', day: '24 hours', week: '7 days' }

/** Returns the function for the hook `admit`. */
export function reservation({ gateway, ledger, limits, tokens }: LimitSources): (ctx: RequestContext) => void {
  const { clock, db } = gateway
  const set = WINDOW_NAMES.filter((window) => limits.org[window] !== null)
  const smallest = Math.min(...[...Object.values(limits.org), limits.globalDay].filter((limit) => limit !== null))

  return (ctx) => {
    const estimate = tokens(ctx)
    const implicit = Math.max(estimate.promptTokens, Math.min(estimate.tokens, Math.floor(smallest / IMPLICIT_SHARE)))
    const amount = estimate.explicit ? estimate.tokens : implicit
    const { orgId } = ctx.principal
    const accounts = accountsOf(orgId)
    const starts = startsAt(ctx.startedAt)
    const now = clock.now()
    const held = { measure: 'shared_tokens', amountNano: amount, limitNano: Number.MAX_SAFE_INTEGER, refuse: impossible } as const
    const caps = set.map(
      (window): Cap => ({
        lock: accounts.lock,
        over: rangesOf(accounts, window, now),
        amount,
        limit: limits.org[window] as number,
        refuse: () => refusal(orgId, window, amount),
      }),
    )
    ledger.hold(
      ctx,
      [
        { ...held, name: accounts.minutes, windowStart: starts.minute },
        { ...held, name: accounts.hours, windowStart: starts.hour },
        {
          ...held,
          name: GLOBAL,
          windowStart: starts.day,
          limitNano: limits.globalDay ?? Number.MAX_SAFE_INTEGER,
          refuse: () => exhausted(clock.now()),
        },
      ],
      // Without its counts the pool would have no limit.
      (error) => {
        throw error
      },
      caps,
    )
  }

  async function refusal(orgId: number | null, window: WindowName, amount: number): Promise<Error> {
    const now = clock.now()
    const buckets = await ledger.balancesOf(db, accountsOf(orgId).minutes, firstMinute('week', now)).catch(() => null)
    const times = set.map((one) => (buckets === null ? null : fitsAt(buckets, one, limits.org[one] as number, amount, now)))
    const never = times.includes(null)
    // Running requests may have ended since: then it fits at once.
    const waitMs = never ? null : Math.max(1000, Math.max(...(times as number[])) - now)
    return limitReached(window, limits.org[window] as number, buckets !== null && never, waitMs)
  }
}

function limitReached(window: WindowName, limit: number, never: boolean, waitMs: number | null): GatewayError {
  const message = `The free pool gives an organization ${limit} tokens in ${SAID[window]}, and this request does not fit into them.`
  const advice = never
    ? 'It may use more than the limit: set a lower output limit, or shorten the prompt.'
    : 'Wait until earlier tokens leave the window, or use a model of a provider of your own.'
  return refused('free_tier_limit', `${message} ${advice}`, waitMs)
}

function exhausted(now: number): GatewayError {
  const end = dayEnd(now)
  const message = `The free pool has given out its tokens of this day. It opens again at ${new Date(end).toISOString()}.`
  return refused('free_pool_exhausted', `${message} Until then use a model of a provider of your own.`, end - now)
}

function refused(code: string, message: string, retryAfterMs: number | null): GatewayError {
  return new GatewayError(message, { status: 429, type: 'rate_limit_error', code, retryAfterMs })
}

function impossible(): Error {
  return new Error('An account without a limit refused a reservation.')
}
