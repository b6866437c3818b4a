// Where an answer may be found again: everything that must be equal, not merely similar. The
// partition is made before anything is compared.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/canonical.ts'
import type { RequestContext, Target } from '../../core/types/context.ts'

/** @param embedModel vectors of two models cannot be compared. */
export function scopeOf(
  ctx: RequestContext,
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  policy: string,
  embedModel: string,
  mac: (data: string) => string,
): string {
  const { orgId, keyId } = ctx.principal
  const parts = [orgId, keyId ?? 'anon', provider, model, ctx.virtualModel, ctx.dialect, policy, embedModel]
  return mac(`${JSON.stringify(parts)}\n${rest(ctx.request)}`)
}

/** The request without its last turn, and without what only says how it is delivered or filed. */
function rest(request: Frozen<CanonicalRequest>): string {
  const { model: _, stream: __, includeUsage: ___, metadata: ____, messages, headers, ...others } = request
  const { idempotencyKey: _____, ...switches } = headers
  const last = messages.at(-1)
  return comparableJson({
    ...others,
    headers: switches,
    turns: messages.slice(0, -1),
    // The last turn without its text.
    last: { ...last, parts: last?.parts.map((part) => ({ ...part, text: '' })) },
  })
}
