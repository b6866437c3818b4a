// The free pool: connections of the gateway's own organization that every organization may use under one model name, within limits of
// tokens per organization and per day.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { isShared } from '../../core/records/request-record.ts'
import { rootOf } from '../../core/records/root-request.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import { freePoolRoutes } from './api.ts'
import { reservation } from './limits.ts'
import { poolOf } from './pool.ts'
import { KEPT_MS, PREFIX } from './windows.ts'

const PRUNE_MS = 3_600_000
const tokens = z.int().min(0).nullable().default(null)

export const freePool = definePlugin({
  name: 'free-pool',
  requires: ['ledger', 'estimates', 'accounts', 'systemModels', 'virtualModels'],
  config: z.strictObject({
    /** Name of the virtual model. */
    name: z.string().min(1).max(128).default('gateway/free').meta({ env: 'FREE_POOL_VM' }),
    globalDailyTokenCap: tokens,
    tokenLimitHour: tokens,
    tokenLimitDay: tokens,
    tokenLimitWeek: tokens,
    requiresVerifiedEmail: z.boolean().default(true),
  }),
  settings: {
    /** Organizations pay for the pool: its cost with the markup, within their budgets. */
    'free_pool.charged': z.boolean().default(false),
  },
  variables: {
    FREE_POOL_GLOBAL_DAILY_TOKEN_CAP: {
      option: 'globalDailyTokenCap',
      about: 'Free-pool tokens per UTC day, of all organizations together.',
    },
    FREE_TIER_TOKEN_LIMIT_HOUR: { option: 'tokenLimitHour', about: 'Free-pool tokens of one organization per rolling hour.' },
    FREE_TIER_TOKEN_LIMIT_DAY: { option: 'tokenLimitDay', about: 'Free-pool tokens of one organization per rolling 24 hours.' },
    FREE_TIER_TOKEN_LIMIT_WEEK: { option: 'tokenLimitWeek', about: 'Free-pool tokens of one organization per rolling 7 days.' },
    FREE_TIER_REQUIRES_VERIFIED_EMAIL: {
      option: 'requiresVerifiedEmail',
      about: 'Free pool only with a verified e-mail address (multi-tenant).',
    },
  },
  setup(gateway, config) {
    const { name } = config
    const ledger = gateway.use('ledger')
    const virtualModels = gateway.use('virtualModels')
    const estimates = gateway.use('estimates')
    const savings = gateway.optional('savings')
    const signIn = gateway.optional('signIn')
    const organizations = gateway.optional('organizations')
    const limits = {
      org: { hour: config.tokenLimitHour, day: config.tokenLimitDay, week: config.tokenLimitWeek },
      globalDay: config.globalDailyTokenCap,
    }
    const verifiedRequired = () => config.requiresVerifiedEmail && signIn()?.multiTenant === true

    const pool = poolOf({
      name,
      accounts: gateway.use('accounts'),
      log: gateway.log,
      free: () => !gateway.settings.get('free_pool.charged'),
    })
    const withdraw = gateway.use('systemModels').offer(pool)
    const reserve = reservation({ gateway, ledger, limits, tokens: estimates.tokens })

    gateway.hook(
      'request',
      (ctx) => {
        if (!isShared(ctx)) return
        const { orgId, keyId } = ctx.principal
        if (orgId === null || !verifiedRequired() || organizations()?.emailVerified(orgId, keyId) === true) return
        throw new GatewayError(
          'The free pool needs a verified e-mail address: open the link in the mail of your sign-up, or ask for a new one.',
          { status: 403, type: 'permission_error', code: 'email_not_verified' },
        )
      },
      { order: 'pre' },
    )
    gateway.hook('admit', (ctx) => {
      if (isShared(ctx) && ctx.operation !== 'count_tokens') reserve(ctx)
    })
    gateway.hook('candidates', (ctx, candidates) => {
      if (ctx.ingress === null && isShared(ctx)) refuseUncounted(ctx)
      return candidates
    })
    gateway.hook(
      'settle',
      (ctx, outcome) => {
        if (!isShared(ctx, outcome)) return
        const saved = savedIn(outcome)
        if (saved.nano > 0)
          savings()?.claim(ctx, {
            source: 'free_pool',
            method: saved.estimated ? 'tokenizer' : 'measured',
            // The tokens were processed; only their price was different.
            tokensBefore: saved.tokens,
            tokensAfter: saved.tokens,
            usdSavedNano: saved.nano,
          })
      },
      // A failure here does not affect the booking of the request.
      { order: 'pre', onError: 'open' },
    )
    gateway.every('prune', PRUNE_MS, () => ledger.forget(gateway.db, PREFIX, gateway.clock.now() - KEPT_MS), { once: true })

    freePoolRoutes(gateway as never, {
      name,
      limits,
      ledger,
      verifiedRequired,
      available: pool.available,
      isShadowed: (orgId) => virtualModels.named(orgId, name) !== null,
    })
    return withdraw
  },
})

/** A step of a request that reserved nothing in the pool would not be counted. @throws GatewayError 400. */
function refuseUncounted(ctx: RequestContext): void {
  const root = rootOf(ctx)
  if (ctx.principal.orgId === null || (root.ingress !== null && isShared(root))) return
  throw GatewayError.invalid('model', `\`${ctx.requestedModel}\` cannot be used for an internal call: name a model of your own.`)
}

/** Sums what shared connections cost and callers did not pay. */
function savedIn({ steps }: Outcome): { nano: number; tokens: number; estimated: boolean } {
  let nano = 0
  let count = 0
  let estimated = false
  for (const { shared, costNano, chargeNano, usage } of steps) {
    if (shared !== true) continue
    nano += Math.max(0, (costNano ?? 0) - (chargeNano ?? 0))
    count += usage.inputTotal + usage.outputTotal
    estimated ||= usage.estimated
  }
  return { nano, tokens: count, estimated }
}

export default freePool
