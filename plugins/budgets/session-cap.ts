// The cap of a session: what one caller's session header may spend, forgotten a day after its last use.
import type { RequestContext } from '../../core/types/context.ts'
import type { Services } from '../../core/types/plugin.ts'

export interface SessionCap {
  readonly sessionId: string
  /** As the ledger has it. */
  readonly account: { readonly name: string; readonly windowStart: 0 }
  /** Nano-USD. */
  readonly limit: number
}

export const SESSION_IDLE_MS = 86_400_000

/** @param inherited nano-USD of keys without a cap of their own; 0 = none. Returns null where nothing caps. */
export function sessionCap(ctx: RequestContext, keys: Pick<Services['keys'], 'of'>, inherited: number): SessionCap | null {
  const limit = keys.of(ctx)?.sessionBudgetNano ?? inherited
  // The session header is parsed on first use.
  if (limit === 0 || ctx.operation === 'count_tokens') return null
  const { sessionId, principal } = ctx
  if (sessionId === null) return null
  const name = `session:${principal.orgId ?? 0}:${principal.keyId ?? 0}:${sessionId}`
  return { sessionId, account: { name, windowStart: 0 }, limit }
}
