// COOLDOWN_RETRY_MAX_WAIT_MS: waits for an account whose upstream gave a retry time, instead of trying the next one. Once per account and
// request, in total at most the setting, and never past the deadline.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { rootOf } from '../../../core/records/root-request.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Attempt, RequestContext } from '../../../core/types/request/context.ts'

interface Waited {
  ms: number
  readonly accounts: Set<string>
}

export interface CooldownWaitOptions {
  /** 0 = off. */
  maxWaitMs: number
  /** Deadline of a request until its first content, ms; 0 = none. */
  deadlineMs: number
}

/** Resolves to true after a wait. @throws GatewayError when the request ended meanwhile. */
export type CooldownWait = (ctx: RequestContext, accountId: string, ms: number | undefined) => Promise<boolean>

export function cooldownWait(gateway: PluginGateway, { maxWaitMs, deadlineMs }: CooldownWaitOptions): CooldownWait {
  const { clock } = gateway
  const slot = gateway.slot<Waited>()
  return async (ctx, accountId, ms) => {
    if (maxWaitMs === 0 || ms === undefined) return false
    const waited = slot.get(ctx) ?? { ms: 0, accounts: new Set<string>() }
    if (waited.accounts.has(accountId) || waited.ms + ms > maxWaitMs) return false
    if (deadlineMs > 0 && clock.now() - rootOf(ctx).startedAt + ms >= deadlineMs) return false
    waited.accounts.add(accountId)
    waited.ms += ms
    slot.set(ctx, waited)
    try {
      await clock.sleep(ms, ctx.signal)
    } catch (reason) {
      throw GatewayError.from(reason)
    }
    const attempt = ctx.attempts.at(-1) as Attempt
    attempt.action = 'waited_cooldown'
    attempt.waitedMs = ms
    return true
  }
}
