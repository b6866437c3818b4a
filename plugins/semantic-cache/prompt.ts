// Selects the requests that may be answered by similarity, the text to compare and the scope to search: a short conversation of plain
// text that ends with the user's turn. Any feature that could make similar questions need different answers excludes a request.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { CanonicalRequest, Frozen } from '../../core/types/request/canonical.ts'
import type { RequestContext, Target } from '../../core/types/request/context.ts'

const MAX_MESSAGES = 6
const MAX_CHARS = 8000

/** Returns the text of the last user turn; null: the cache does not apply. */
export function promptOf(request: Frozen<CanonicalRequest>): string | null {
  const { messages, system, sampling, tools, toolChoice, modalities, audioOut, webSearch, logprobs } = request
  const last = messages.at(-1)
  if (last?.role !== 'user' || messages.length > MAX_MESSAGES) return null
  if (tools.length > 0 || toolChoice !== undefined || webSearch !== undefined) return null
  if (audioOut !== undefined || modalities?.some((modality) => modality !== 'text') || logprobs?.enabled) return null
  if ((sampling.temperature ?? 1) > 1 || (sampling.n ?? 1) !== 1 || leansOnState(request)) return null
  let chars = 0
  for (const { parts } of [...system, ...messages]) {
    for (const part of parts) {
      if (part.t !== 'text') return null
      chars += part.text.length
      if (chars > MAX_CHARS) return null
    }
  }
  const text = last.parts.map((part) => (part.t === 'text' ? part.text : '')).join('\n')
  return text.trim() === '' ? null : text
}

/** State at the vendor is not part of the request. */
function leansOnState({ state }: Frozen<CanonicalRequest>): boolean {
  if (state === undefined) return false
  const { previousResponseId, conversation, background, promptTemplate, thread, container } = state
  return (
    [previousResponseId, conversation, promptTemplate, thread, container].some((value) => value != null) || background === true
  )
}

/** @param embedModel part of the scope, because vectors of two models cannot be compared. */
export function scopeOf(
  ctx: RequestContext<'chat'>,
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  policy: string,
  embedModel: string,
  mac: (data: string) => string,
): string {
  const { orgId, keyId } = ctx.principal
  const parts = [orgId, keyId ?? 'anon', provider, model, ctx.virtualModel, ctx.dialect, policy, embedModel]
  return mac(`${JSON.stringify(parts)}\n${rest(ctx.request)}`)
}

/** Returns the request without its last turn, and without members that only affect delivery or records. */
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
