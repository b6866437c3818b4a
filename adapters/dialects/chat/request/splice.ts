// Byte lane: chat caller, chat upstream. The body stays the caller's bytes but for the model, the stream options and what
// facts about the target demand.
import { skipSpace, skipString, skipValue } from '../../../../core/json/json-scan.ts'
import type { Json, JsonObject } from '../../../../core/types/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/dialect.ts'
import type { HeaderBag } from '../../../../core/types/ports.ts'
import { isObject } from '../read.ts'
import { wireCallId } from '../tool-names.ts'
import { acceptsPartArrays } from './cache-marks.ts'
import { callSignature } from './decode-assistant.ts'
import { CHAT_PATH } from './encode.ts'
import { PART_SEPARATOR } from './encode-content.ts'
import { applyModelRules, bodyFields } from './model-rules.ts'

/** Headers of the dialect itself; everything else of the caller stays here. */
const FORWARDED = ['openai-beta', 'idempotency-key']

// Byte lane: the edits inside `messages` that a chat caller's body may need before it goes to a chat upstream, found
// without parsing what needs none.
interface Edit {
  index: number
  path: string
  /** Undefined: the member goes. */
  value: Json | undefined
}

/** Above this many edits the array is rewritten as a whole: every splice costs a scan of the body. */
const SPLICES_AT_MOST = 8

function spliceMessages(body: WireBody, codec: CodecContext): void {
  if (!mayContainEdits(body, codec)) return
  const raw = body.raw('messages')
  if (raw === undefined || !mayNeedEdits(raw, codec)) return
  const edits = elements(raw).flatMap((text, index) => (mayNeedEdits(text, codec) ? editsOf(text, index, codec) : []))
  if (edits.length <= SPLICES_AT_MOST) {
    for (const { index, path, value } of edits) {
      const at = `messages.${index}.${path}`
      if (value === undefined) body.remove(at)
      else body.set(at, value)
    }
    return
  }
  const messages = JSON.parse(raw) as Json[]
  for (const { index, path, value } of edits) assign(messages[index] as JsonObject, path, value)
  body.set('messages', messages)
}

/** A search in the bytes: most conversations need no edit, and decoding a megabyte to learn that would cost more than the rest. */
function mayContainEdits(body: WireBody, codec: CodecContext): boolean {
  const has = (text: string) => body.contains('messages', text)
  if (has('"gw1.') || has('"tool_call') || (codec.quirks.developerRole === false && has('"developer"'))) return true
  // Text parts have a `type`; a quoted one inside a text has a backslash before its quotes.
  return has('"type"') && (has('"system"') || has('"developer"') || has('"tool"'))
}

/** Cheap and never wrongly false, for the whole array or one message. */
function mayNeedEdits(text: string, codec: CodecContext): boolean {
  if (codec.quirks.developerRole === false && text.includes('"developer"')) return true
  if (text.includes('"gw1.')) return true
  if (text.includes('"tool_call'))
    return codec.quirks.toolIds !== undefined || /"(?:id|tool_call_id)"\s*:\s*"[^"]{65}/.test(text) || hasTextArray(text)
  return hasTextArray(text)
}

function hasTextArray(text: string): boolean {
  return /"(?:system|developer|tool)"/.test(text) && /"content"\s*:\s*\[/.test(text)
}

/** The JSON texts of the array's elements. */
function elements(raw: string): string[] {
  const bytes = new TextEncoder().encode(raw)
  const decoder = new TextDecoder()
  const out: string[] = []
  for (let at = skipSpace(bytes, 1); bytes[at] !== 0x5d; ) {
    const end = bytes[at] === 0x22 ? skipString(bytes, at) : skipValue(bytes, at)
    out.push(decoder.decode(bytes.subarray(at, end)))
    at = skipSpace(bytes, end)
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return out
}

function editsOf(text: string, index: number, codec: CodecContext): Edit[] {
  const message = JSON.parse(text) as Json
  if (!isObject(message)) return []
  const edits: Edit[] = []
  const { role, content } = message
  if (role === 'developer' && codec.quirks.developerRole === false) edits.push({ index, path: 'role', value: 'system' })
  if ((role === 'system' || role === 'developer' || role === 'tool') && Array.isArray(content)) {
    const joined = joinedText(content, codec)
    if (joined !== null) edits.push({ index, path: 'content', value: joined })
  }
  const id = (path: string, given: Json | undefined) => {
    if (typeof given !== 'string') return
    const fitting = wireCallId(given, codec)
    if (fitting !== given) edits.push({ index, path, value: fitting })
  }
  id('tool_call_id', message.tool_call_id)
  if (Array.isArray(message.tool_calls)) {
    message.tool_calls.forEach((call, at) => {
      if (!isObject(call)) return
      id(`tool_calls.${at}.id`, call.id)
      if (carriesEnvelope(call)) edits.push({ index, path: `tool_calls.${at}.extra_content`, value: undefined })
    })
  }
  return edits
}

/** Null when the array has to stay: other parts than text, or marks on them that the provider reads. */
function joinedText(content: readonly Json[], codec: CodecContext): string | null {
  const keep = acceptsPartArrays(codec)
  const texts: string[] = []
  for (const part of content) {
    if (!isObject(part) || part.type !== 'text' || typeof part.text !== 'string') return null
    if (keep && Object.keys(part).length > 2) return null
    texts.push(part.text)
  }
  return texts.join(PART_SEPARATOR)
}

/** A secret of another vendor, put there by us on its way through this client: it goes to no other upstream. */
function carriesEnvelope(call: JsonObject): boolean {
  const signature = callSignature(call, '')
  return signature !== undefined && signature.dialect !== 'chat'
}

function assign(message: JsonObject, path: string, value: Json | undefined): void {
  const keys = path.split('.')
  let owner: JsonObject = message
  for (const key of keys.slice(0, -1)) owner = owner[key] as JsonObject
  if (value === undefined) delete owner[keys.at(-1) as string]
  else owner[keys.at(-1) as string] = value
}

export function spliceRequest(body: WireBody, codec: CodecContext, caller: HeaderBag): { path: string; headers: string[] } {
  // Messages first: their splices rescan the body, the top-level ones below do not.
  spliceMessages(body, codec)
  const fields = bodyFields(body)
  if (!fields.hasTools() && body.raw('functions') === undefined) {
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) if (body.raw(field) !== undefined) body.remove(field)
  }
  applyModelRules(fields, codec)
  if (codec.stream) spliceStreamOptions(body, codec)
  body.set('model', codec.model)
  const headers: string[] = []
  for (const name of FORWARDED) {
    const value = caller.get(name)
    if (value !== null) headers.push(name, value)
  }
  return { path: CHAT_PATH, headers }
}

function spliceStreamOptions(body: WireBody, codec: CodecContext): void {
  const given = body.raw('stream_options')
  if (codec.quirks.rejectsStreamOptions) {
    if (given !== undefined) body.remove('stream_options')
  } else if (given === undefined || given === 'null') body.set('stream_options', { include_usage: true })
  else if (body.raw('stream_options.include_usage') !== 'true') body.set('stream_options.include_usage', true)
}
