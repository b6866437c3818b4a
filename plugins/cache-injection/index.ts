// Adds prompt-cache breakpoints for callers who set none, only to the bodies of messages upstreams. When an upstream refuses them, the
// call is repeated once without. Off by default; then no request is inspected.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Candidate, RequestContext } from '../../core/types/request/context.ts'
import { injectBreakpoints } from './breakpoints.ts'

export const cacheInjection = definePlugin({
  name: 'cache-injection',
  settings: {
    'cache_injection.enabled': z.boolean().default(false).meta({ scope: 'organization' }),
    /** How long the upstream keeps the cached prefix. */
    'cache_injection.ttl': z.enum(['5m', '1h']).default('5m').meta({ scope: 'organization' }),
  },
  setup(gateway) {
    const set = gateway.settings.compiled((get) => ({ enabled: get('cache_injection.enabled'), ttl: get('cache_injection.ttl') }))
    const when = ({ operation, principal }: RequestContext): boolean => operation === 'chat' && set(principal.orgId).enabled
    /** The attempt that got breakpoints, and whether the upstream refused them. */
    const attempts = gateway.slot<{ candidate: Candidate; refused: boolean }>()

    gateway.hook(
      'encoded',
      (ctx, call) => {
        const before = attempts.get(ctx)
        if (call.codec.upstream !== 'messages' || (before?.candidate === call.candidate && before.refused)) return
        const breakpoints = injectBreakpoints(call.body, set(ctx.principal.orgId).ttl)
        if (breakpoints === 0) return
        attempts.set(ctx, { candidate: call.candidate, refused: false })
        ctx.note('cache_injection', { breakpoints })
      },
      { after: 'virtual-models', when },
    )

    gateway.hook(
      'attempt',
      (ctx, candidate, next) =>
        next().catch((error: unknown) => {
          const attempt = attempts.get(ctx)
          const marked = attempt?.candidate === candidate && !attempt.refused
          if (!marked || !isAboutMarks(error)) throw error
          attempts.set(ctx, { candidate, refused: true })
          ctx.note('cache_injection', { breakpoints: 0 })
          return next()
        }),
      // Inside strip-unsupported: otherwise that plugin would remove a field of the caller.
      { after: 'strip-unsupported', when },
    )
  },
})

function isAboutMarks(error: unknown): boolean {
  return GatewayError.is(error) && error.upstream?.status === 400 && /cache_control/i.test(error.message)
}

export default cacheInjection
