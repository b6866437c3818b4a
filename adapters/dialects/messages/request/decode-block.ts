// Decodes one content block of a request or an answer. Members that only this dialect has stay raw, so that they return to it unchanged.
import { randomId } from '../../../../core/ids/ids.ts'
import { hasBigNumber } from '../../../../core/json/raw-json.ts'
import { UNSIGNED, unwrapSignature } from '../../../../core/models/signature.ts'
import type {
  CacheMark,
  DocumentPart,
  Json,
  JsonObject,
  Part,
  Signature,
  Source,
  TextPart,
} from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { booleanField, isObject, objectField, textField, wrongType } from '../../shared/fields.ts'
import { withExt } from '../response/block.ts'
import { decodeCitation } from '../response/citations.ts'

export interface BlockReader {
  body: WireBody
  /** The family of unwrapped signatures: '' for a caller's history. */
  family: string
}

/** `at` is the block's dotted path in the body. Returns null for a block without content. */
export function decodeBlock(block: Json, at: string, reader: BlockReader): Part | null {
  if (!isObject(block)) throw wrongType(at, 'an object')
  const part = typed(block, at, reader)
  if (part === null || part.t === 'server_tool' || part.t === 'opaque') return part
  const cache = cacheMark(block)
  if (part.t === 'text' && part.text === '' && cache === undefined) return null
  if (cache !== undefined) part.cache = cache
  return part
}

/** Decodes a string or an array of blocks. */
export function decodeContent(content: Json | undefined, at: string, reader: BlockReader): Part[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [{ t: 'text', text: content }]
  if (!Array.isArray(content)) throw wrongType(at, 'a string or an array of blocks')
  return content.map((block, index) => decodeBlock(block, `${at}.${index}`, reader)).filter((part) => part !== null)
}

export function cacheMark(owner: JsonObject): CacheMark | undefined {
  const mark = owner.cache_control
  if (!isObject(mark)) return undefined
  return mark.ttl === '5m' || mark.ttl === '1h' ? { ttl: mark.ttl } : {}
}

/** Decodes a secret in this dialect's own place: an envelope, or the dialect's own secret. */
export function decodeSignature(value: string, family: string): Signature {
  return unwrapSignature(value) ?? { dialect: 'messages', modelFamily: family, value }
}

const TEXT_KEYS = new Set(['type', 'text', 'citations', 'cache_control'])
const CALL_KEYS = new Set(['type', 'id', 'name', 'input', 'caller', 'cache_control'])
const RESULT_KEYS = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control'])

/** Decodes blocks inside a block. */
type Inner = (content: Json | undefined, at: string) => Part[]

const IMAGE_KEYS = new Set(['type', 'source', 'cache_control'])
const DOCUMENT_KEYS = new Set(['type', 'source', 'title', 'context', 'citations', 'cache_control'])
const SEARCH_KEYS = new Set(['title', 'content', 'citations', 'cache_control'])

function decodeImage(block: JsonObject, at: string): Part {
  const source = objectField(block, 'source', `${at}.source`) ?? {}
  return withExt({ t: 'image', src: binarySource(source, `${at}.source`) }, block, IMAGE_KEYS)
}

function decodeDocument(block: JsonObject, at: string, inner: Inner): Part {
  const wire = objectField(block, 'source', `${at}.source`) ?? {}
  const mime = textField(wire, 'media_type', `${at}.source.media_type`)
  const part: DocumentPart & Part = { t: 'document', src: documentSource(wire, `${at}.source`, inner) }
  if (mime !== undefined) part.mime = mime
  addTitle(part, block, at)
  const context = textField(block, 'context', `${at}.context`)
  if (context !== undefined) part.context = context
  return withExt(part, block, DOCUMENT_KEYS)
}

/** For other dialects a titled document; `ext` keeps the members of a search result. */
function decodeSearchResult(block: JsonObject, at: string, inner: Inner): Part {
  const part: DocumentPart & Part = { t: 'document', src: { parts: inner(block.content, `${at}.content`) } }
  addTitle(part, block, at)
  const source = textField(block, 'source', `${at}.source`)
  if (source !== undefined) part.context = source
  return withExt(part, block, SEARCH_KEYS)
}

function addTitle(part: DocumentPart, block: JsonObject, at: string): void {
  const title = textField(block, 'title', `${at}.title`)
  const citations = objectField(block, 'citations', `${at}.citations`)
  if (title !== undefined) part.title = title
  const enabled = citations === undefined ? undefined : booleanField(citations, 'enabled', `${at}.citations.enabled`)
  if (enabled !== undefined) part.citations = enabled
}

function documentSource(wire: JsonObject, at: string, inner: Inner): DocumentPart['src'] {
  if (wire.type === 'text') return { text: textField(wire, 'data', `${at}.data`) ?? '' }
  if (wire.type === 'content') return { parts: inner(wire.content, `${at}.content`) }
  return binarySource(wire, at)
}

function binarySource(wire: JsonObject, at: string): Source {
  const type = textField(wire, 'type', `${at}.type`)
  if (type === 'base64') {
    return {
      kind: 'base64',
      data: textField(wire, 'data', `${at}.data`) ?? '',
      mime: textField(wire, 'media_type', `${at}.media_type`) ?? '',
    }
  }
  if (type === 'url') return { kind: 'url', url: textField(wire, 'url', `${at}.url`) ?? '' }
  if (type === 'file') return { kind: 'file', id: textField(wire, 'file_id', `${at}.file_id`) ?? '' }
  throw wrongType(`${at}.type`, '"base64", "url" or "file"')
}

function typed(block: JsonObject, at: string, reader: BlockReader): Part | null {
  const type = textField(block, 'type', `${at}.type`) ?? ''
  switch (type) {
    case 'text':
      return decodeText(block, at)
    case 'image':
      return decodeImage(block, at)
    case 'document':
      return decodeDocument(block, at, (content, inner) => decodeContent(content, inner, reader))
    case 'search_result':
      return decodeSearchResult(block, at, (content, inner) => decodeContent(content, inner, reader))
    case 'thinking':
      return decodeThinking(block, at, reader.family)
    case 'redacted_thinking': {
      const data = textField(block, 'data', `${at}.data`) ?? ''
      return data === '' ? null : { t: 'reasoning', text: '', redacted: data, encrypted: decodeSignature(data, reader.family) }
    }
    case 'tool_use':
      return decodeCall(block, at, reader.body)
    case 'tool_result': {
      const parts = decodeContent(block.content, `${at}.content`, reader)
      const callId = textField(block, 'tool_use_id', `${at}.tool_use_id`) ?? ''
      const isError = booleanField(block, 'is_error', `${at}.is_error`)
      return withExt({ t: 'tool_result', callId, parts, ...(isError === undefined ? {} : { isError }) }, block, RESULT_KEYS)
    }
    default:
      return isServerBlock(type)
        ? { t: 'server_tool', dialect: 'messages', kind: type, raw: block }
        : { t: 'opaque', dialect: 'messages', raw: block }
  }
}

/** Returns whether a block belongs to a tool that the vendor runs itself. */
export function isServerBlock(type: string): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use' || (type.endsWith('_tool_result') && type !== 'tool_result')
}

function decodeText(block: JsonObject, at: string): Part {
  const part: TextPart & Part = { t: 'text', text: textField(block, 'text', `${at}.text`) ?? '' }
  const annotations = (Array.isArray(block.citations) ? block.citations : [])
    .map(decodeCitation)
    .filter((found) => found !== null)
  if (annotations.length > 0) part.annotations = annotations
  return withExt(part, block, TEXT_KEYS)
}

function decodeThinking(block: JsonObject, at: string, family: string): Part | null {
  const text = textField(block, 'thinking', `${at}.thinking`) ?? ''
  const signature = textField(block, 'signature', `${at}.signature`) ?? ''
  if (signature === '' || signature === UNSIGNED) return text === '' ? null : { t: 'reasoning', text }
  return { t: 'reasoning', text, signature: decodeSignature(signature, family), ...(text === '' ? { display: 'omitted' } : {}) }
}

function decodeCall(block: JsonObject, at: string, body: WireBody): Part {
  const id = textField(block, 'id', `${at}.id`) ?? ''
  const { caller } = block
  return withExt(
    {
      t: 'tool_call',
      id: id || randomId('toolu_'),
      idMinted: id === '',
      name: textField(block, 'name', `${at}.name`) ?? '',
      args: inputText(block.input, at, body),
      kind: 'function',
      // The default caller is the model itself and is not kept.
      ...(isObject(caller) && caller.type !== 'direct' ? { caller } : {}),
    },
    block,
    CALL_KEYS,
  )
}

function inputText(input: Json | undefined, at: string, body: WireBody): string {
  if (input === undefined || input === null) return ''
  if (typeof input === 'string') return input
  const text = JSON.stringify(input)
  return hasBigNumber(text) ? (body.raw(`${at}.input`) ?? text) : text
}
