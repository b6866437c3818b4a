// Edits the body on the byte lane from a chat caller to a chat upstream. The body keeps the caller's bytes except for the model, the
// stream options and what facts about the target require.
import { decodeUtf8 } from '../../../../core/text/bytes.ts'
import type { HeaderBag } from '../../../../core/types/ports/ports.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../../core/types/request/dialect.ts'
import { eachElement, someMember, startsWith } from '../../shared/byte-search.ts'
import { isObject } from '../read.ts'
import { wireCallId } from '../tool-names.ts'
import { acceptsPartArrays } from './cache-marks.ts'
import { callSignature } from './decode-assistant.ts'
import { CHAT_PATH } from './encode.ts'
import { PART_SEPARATOR } from './encode-content.ts'
import { applyModelRules, bodyFields } from './model-rules.ts'

/** Headers of the dialect itself; no other header of the caller is forwarded. */
const FORWARDED = ['openai-beta', 'idempotency-key']

// An edit inside `messages` of a chat caller's body. Messages without edits are not parsed.
interface Edit {
  index: number
  path: string
  /** undefined: the member is removed. */
  value: Json | undefined
}

/** Above this number of edits the whole array is rewritten, because every splice scans the body again. */
const SPLICES_AT_MOST = 8

function spliceMessages(body: WireBody, codec: CodecContext): void {
  const bytes = body.slice('messages')
  if (bytes === undefined || !mayContainEdits(body, bytes, codec)) return
  const edits: Edit[] = []
  eachElement(bytes, (start, end, index) => {
    const text = decodeUtf8(bytes, start, end)
    if (mayNeedEdits(text, codec)) edits.push(...editsOf(text, index, codec))
  })
  if (edits.length <= SPLICES_AT_MOST) {
    for (const { index, path, value } of edits) {
      const at = `messages.${index}.${path}`
      if (value === undefined) body.remove(at)
      else body.set(at, value)
    }
    return
  }
  const messages = body.get('messages') as Json[]
  for (const { index, path, value } of edits) assign(messages[index] as JsonObject, path, value)
  body.set('messages', messages)
}

/** The same test as `mayNeedEdits` for the whole array, on its bytes. */
function mayContainEdits(body: WireBody, bytes: Uint8Array, codec: CodecContext): boolean {
  const has = (text: string) => body.contains('messages', text)
  if ((codec.quirks.developerRole === false && has('"developer"')) || (body.mayName('extra_content') && has('"gw1.'))) return true
  if ((body.mayName('tool_calls') || body.mayName('tool_call_id')) && has('"tool_call')) {
    if (codec.quirks.toolIds !== undefined) return true
    if (['tool_call_id', 'id'].some((name) => body.mayName(name, 'long_text') && someMember(bytes, name, isLongText))) return true
  }
  // Text parts have a `type`.
  if (!body.mayName('type') || !body.mayName('content', 'array')) return false
  return has('"type"') && someMember(bytes, 'role', joinsTexts) && someMember(bytes, 'content', isArray)
}

const JOINING_ROLES = ['"system"', '"developer"', '"tool"']

/** Not every upstream takes arrays of text from these roles. */
function joinsTexts(bytes: Uint8Array, at: number): boolean {
  return JOINING_ROLES.some((role) => startsWith(bytes, at, role))
}

const isArray = (bytes: Uint8Array, at: number): boolean => bytes[at] === 0x5b

function isLongText(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== 0x22) return false
  const end = bytes.indexOf(0x22, at + 1)
  return end - at > 65
}

/** A cheap test for one message. It never returns false when an edit is needed. */
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
    if (typeof given !== 'string' || (given === '' && codec.quirks.toolIds === undefined)) return
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

/** Returns null when the array must stay: it has other parts than text, or marks that the provider reads. */
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

/** The gateway's envelope with another vendor's secret, carried by this client. It must not be sent to an upstream. */
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
  // Edit messages first: their splices rescan the body, the top-level ones below do not.
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
