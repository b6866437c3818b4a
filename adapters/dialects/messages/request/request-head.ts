// Builds the path, headers and required output limit of a call, in both lanes.
import { unwrapSignature } from '../../../../core/models/signature.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, ModelCaps, WireBody } from '../../../../core/types/request/dialect.ts'
import { someMember, startsWith } from '../../shared/byte-search.ts'
import { isObject } from '../../shared/fields.ts'
import { fitIds } from '../../shared/long-ids.ts'
import type { WireMessage } from './encode-turns.ts'

const VERSION = '2023-06-01'
const FILES_BETA = 'files-api-2025-04-14'
const MOST_BY_DEFAULT = 32_000
const UNKNOWN_MODEL = 8192

export function requestPath(codec: CodecContext): string {
  return codec.operation === 'count_tokens' ? '/v1/messages/count_tokens' : '/v1/messages'
}

/** Only this dialect requires max_tokens. */
export function defaultMaxTokens(caps: Readonly<ModelCaps>): number {
  return caps.maxOutput === undefined ? UNKNOWN_MODEL : Math.min(caps.maxOutput, MOST_BY_DEFAULT)
}

export function requestHeaders(request: Frozen<CanonicalRequest>, messages: readonly WireMessage[]): string[] {
  const betas = request.source === 'messages' ? [...(request.headers.anthropicBeta ?? [])] : []
  if (messages.some(hasFile) && !betas.some((beta) => beta.startsWith('files-api'))) betas.push(FILES_BETA)
  return ['anthropic-version', VERSION, ...(betas.length > 0 ? ['anthropic-beta', betas.join(',')] : [])]
}

/** Above this number the list is rewritten, because every removal copies the body. */
const REMOVALS_AT_MOST = 32

function dropForeignThinking(body: WireBody, codec: CodecContext): void {
  if (!body.mayName('signature') || !body.contains('messages', '"thinking"')) return
  const bytes = body.slice('messages')
  if (bytes === undefined || !someMember(bytes, 'signature', isForeignText)) return
  const messages = body.json().messages
  if (!Array.isArray(messages)) return
  const gone = messages.flatMap((message, at) => foreignPaths(message, `messages.${at}`))
  if (gone.length === 0) return
  // From the end, so that a removal does not shift later ones.
  if (gone.length <= REMOVALS_AT_MOST) for (const path of gone.reverse()) body.remove(path)
  else body.set('messages', messages.flatMap(cleaned) as Json[])
  if (body.get('thinking.type') !== 'enabled' || mayThink(body.json().messages)) return
  body.remove('thinking')
  codec.warn('dropped_reasoning')
}

function isForeignText(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0x22 && (bytes[at + 1] === 0x22 || startsWith(bytes, at + 1, 'gw1.'))
}

/** With a thinking budget, an open tool turn must begin with thinking. Its first block may just have been removed. */
function mayThink(messages: Frozen<Json> | undefined): boolean {
  if (!Array.isArray(messages)) return true
  if (!contentOf(messages.at(-1)).some((block) => isObject(block) && block.type === 'tool_result')) return true
  const [first] = contentOf(messages.at(-2))
  return !isObject(first) || first.type === 'thinking' || first.type === 'redacted_thinking'
}

/** Returns the paths to remove: the message itself when all its content is removed. */
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

/** On the byte lane: sends the caller's body with the upstream's model, and the caller's own version and betas. */
export function spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] } {
  // Do this first: reading the bytes of an edited body would join them at once.
  dropForeignThinking(body, codec)
  if (body.get('model') !== codec.model) body.set('model', codec.model)
  if (codec.quirks.idLimits !== undefined) fitIds(body, codec)
  const limit = codec.operation === 'chat' ? body.get('max_tokens') : 0
  if (limit === undefined || limit === null) body.set('max_tokens', defaultMaxTokens(codec.caps))
  const headers = ['anthropic-version', caller.get('anthropic-version') || VERSION]
  for (const name of ['anthropic-beta', 'idempotency-key']) {
    const value = caller.get(name)
    if (value !== null && value !== '') headers.push(name, value)
  }
  return { path: requestPath(codec), headers }
}

function hasFile({ content }: WireMessage): boolean {
  return content.some((block) => (block.source as { type?: unknown } | undefined)?.type === 'file')
}
