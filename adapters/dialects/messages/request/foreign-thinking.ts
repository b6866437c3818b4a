// Byte lane: thinking blocks that another vendor's model wrote earlier in the conversation. Anthropic refuses a request with
// signatures that are not its own, so blocks with our envelope, or with none at all, leave the body.
import { unwrapSignature } from '../../../../core/models/signature.ts'
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { Frozen, Json, JsonObject } from '../../../../core/types/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/dialect.ts'
import { isObject } from '../../shared/fields.ts'

/** Above this many the list is rewritten: every removal copies the body. */
const REMOVALS_AT_MOST = 32

export function dropForeignThinking(body: WireBody, codec: CodecContext): void {
  const text = decodeUtf8(body.bytes)
  if (!text.includes('"thinking"') || !/"signature"\s*:\s*"(?:gw1\.|")/.test(text)) return
  const messages = body.json().messages
  if (!Array.isArray(messages)) return
  const gone = messages.flatMap((message, at) => foreignPaths(message, `messages.${at}`))
  if (gone.length === 0) return
  // From the end, so that what goes does not move what goes later.
  if (gone.length <= REMOVALS_AT_MOST) for (const path of gone.reverse()) body.remove(path)
  else body.set('messages', messages.flatMap(cleaned) as Json[])
  if (body.get('thinking.type') !== 'enabled' || mayThink(body.json().messages)) return
  body.remove('thinking')
  codec.warn('dropped_reasoning')
}

/** With a budget, a running tool turn must open with thinking: what opened this one may just have gone. */
function mayThink(messages: Frozen<Json> | undefined): boolean {
  if (!Array.isArray(messages)) return true
  if (!contentOf(messages.at(-1)).some((block) => isObject(block) && block.type === 'tool_result')) return true
  const [first] = contentOf(messages.at(-2))
  return !isObject(first) || first.type === 'thinking' || first.type === 'redacted_thinking'
}

/** The message itself when nothing else is in it. */
function foreignPaths(message: Frozen<Json>, at: string): string[] {
  const content = contentOf(message)
  const paths = content.flatMap((block, place) => (isForeign(block) ? [`${at}.content.${place}`] : []))
  return paths.length > 0 && paths.length === content.length ? [at] : paths
}

function cleaned(message: Frozen<Json>): Frozen<Json>[] {
  const content = contentOf(message)
  const kept = content.filter((block) => !isForeign(block))
  if (kept.length === content.length) return [message]
  return kept.length === 0 ? [] : [{ ...(message as Frozen<JsonObject>), content: kept }]
}

function contentOf(message: Frozen<Json> | undefined): readonly Frozen<Json>[] {
  return isObject(message) && Array.isArray(message.content) ? message.content : []
}

function isForeign(block: Frozen<Json>): boolean {
  if (!isObject(block) || block.type !== 'thinking') return false
  const { signature } = block
  return signature === '' || (typeof signature === 'string' && unwrapSignature(signature) !== null)
}
