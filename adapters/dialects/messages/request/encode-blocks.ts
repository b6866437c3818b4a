// Encodes canonical parts as content blocks of a request. Thinking is sent only with a signature of this model family; secrets and server
// items of other vendors are dropped.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { base64Decode } from '../../../../core/text/bytes.ts'
import type {
  CacheMark,
  CanonicalRequest,
  DocumentPart,
  Frozen,
  JsonObject,
  Part,
  Signature,
  Source,
  ToolCallPart,
  ToolResultPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { historyField } from '../../shared/history-field.ts'
import { type Block, thinkingText } from '../response/block.ts'
import { encodeCitations } from '../response/citations.ts'
import { flatName, wireCallId, wireName } from '../tool-names.ts'
import { callInput } from './decode-tools.ts'

export interface BlockWriter {
  /** Encodes a user part, or one inside a tool result; [] for a part that cannot be sent or has no content. */
  user(part: Frozen<Part>): Block[]
  assistant(parts: readonly Frozen<Part>[]): Block[]
  result(part: Frozen<ToolResultPart & Part>): Block
  /** Encodes a result whose call is not in the history as plain user text. */
  orphan(part: Frozen<ToolResultPart & Part>): Block[]
  /** Encodes an instruction inside the conversation. */
  instruction(parts: readonly Frozen<Part>[], wrapped: boolean): Block[]
}

// Canonical images and documents as blocks. Base64 and http(s) URLs are sent; audio, video and foreign file ids are refused.
interface MediaContext {
  /** The field that refusals name: the caller's name for the conversation. */
  field: string
  /** The caller speaks this dialect, so file ids are the vendor's own. */
  own: boolean
  /** Citations may be requested; not together with structured output. */
  citations: boolean
  warn(slug: string): void
  /** Encodes the parts of a document made of blocks. */
  inner(parts: readonly Frozen<Part>[]): Block[]
}

const IMAGES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function imageBlock(src: Frozen<Source>, context: MediaContext): Block {
  if (src.kind === 'base64') {
    const mime = src.mime.toLowerCase() === 'image/jpg' ? 'image/jpeg' : src.mime.toLowerCase()
    if (!IMAGES.has(mime))
      throw GatewayError.unsupported(context.field, `This target does not read images of type \`${src.mime.slice(0, 100)}\`.`)
    return { type: 'image', source: { type: 'base64', media_type: mime, data: src.data } }
  }
  return { type: 'image', source: remote(src, context) }
}

function documentBlock(part: Frozen<DocumentPart & Part>, context: MediaContext): Block | null {
  const { type: kind, ...ext } = (part.ext?.messages ?? {}) as JsonObject
  const title = part.title ?? part.filename
  if (kind === 'search_result' && 'parts' in part.src) {
    return {
      ...ext,
      type: 'search_result',
      title: title ?? '',
      content: context.inner(part.src.parts),
      ...citations(part, context),
    }
  }
  const source = documentSource(part, context)
  if (source === null) return null
  return {
    ...ext,
    type: 'document',
    source,
    ...(title === undefined || title === '' ? {} : { title }),
    ...(part.context === undefined || part.context === '' ? {} : { context: part.context }),
    ...citations(part, context),
  }
}

function citations(part: Frozen<DocumentPart>, context: MediaContext): Block {
  if (part.citations === undefined) return {}
  if (!context.citations && part.citations) {
    context.warn('dropped_citations')
    return {}
  }
  return { citations: { enabled: part.citations } }
}

/** Returns null for a document without content. */
function documentSource(part: Frozen<DocumentPart>, context: MediaContext): Block | null {
  const { src } = part
  if ('text' in src) return textSource(src.text)
  if ('parts' in src) {
    const content = context.inner(src.parts)
    return content.length === 0 ? null : { type: 'content', content }
  }
  const mime = (('mime' in src ? src.mime : undefined) ?? part.mime ?? '').toLowerCase()
  if (src.kind === 'base64') {
    if (mime === 'application/pdf') return { type: 'base64', media_type: mime, data: src.data }
    const text = isText(mime) ? base64Decode(src.data) : null
    if (text !== null) return textSource(text)
    throw GatewayError.unsupported(context.field, `This target does not read files of type \`${mime.slice(0, 100)}\`.`)
  }
  if (mime !== '' && mime !== 'application/pdf' && src.kind !== 'file') {
    throw GatewayError.unsupported(context.field, `This target reads only PDF files by URL, not \`${mime.slice(0, 100)}\`.`)
  }
  return remote(src, context)
}

function textSource(data: string): Block | null {
  return data.trim() === '' ? null : { type: 'text', media_type: 'text/plain', data }
}

function isText(mime: string): boolean {
  return (
    mime.startsWith('text/') ||
    /^application\/(?:json|xml|x-ndjson|yaml|x-yaml|javascript|sql)$/.test(mime) ||
    mime.endsWith('+json') ||
    mime.endsWith('+xml')
  )
}

function remote(src: Frozen<Source>, context: MediaContext): Block {
  if (src.kind === 'file') {
    if (!context.own)
      throw GatewayError.unsupported(
        context.field,
        'A file id belongs to the vendor that stores the file; send the content itself.',
      )
    return { type: 'file', file_id: src.id }
  }
  // A `uri` is an address that only its own vendor can read, such as Google's Files API.
  const url = src.kind === 'url' ? src.url : ''
  if (!/^https?:\/\//i.test(url))
    throw GatewayError.unsupported(context.field, 'This target reads only http(s) URLs and inline data.')
  return { type: 'url', url }
}

export function blockWriter(request: Frozen<CanonicalRequest>, citations: boolean, codec: CodecContext): BlockWriter {
  const own = request.source === 'messages'
  const media: MediaContext = {
    field: historyField(request.source),
    own,
    citations,
    warn: (slug) => codec.warn(slug),
    inner: (parts) => parts.flatMap(user),
  }

  function user(part: Frozen<Part>): Block[] {
    switch (part.t) {
      case 'text':
      case 'refusal':
        return textBlock(part)
      case 'image':
        return [{ ...ext(part), ...imageBlock(part.src, media), ...cacheControl(part.cache) }]
      case 'document': {
        const block = documentBlock(part, media)
        return block === null ? [] : [{ ...block, ...cacheControl(part.cache) }]
      }
      case 'audio':
      case 'video':
        throw GatewayError.unsupported(media.field, `This target does not read ${part.t}.`)
      case 'server_tool':
      case 'opaque':
        return part.dialect === 'messages' ? [part.raw as Block] : []
      default:
        return []
    }
  }

  function assistant(parts: readonly Frozen<Part>[]): Block[] {
    const blocks = parts.flatMap((part): Block[] => {
      switch (part.t) {
        case 'text':
          return textBlock(part, encodeCitations(part.annotations))
        case 'reasoning':
          return thinkingBlock(part, codec)
        case 'tool_call':
          return [toolUse(part, codec)]
        case 'audio':
          return part.transcript ? textBlock({ text: part.transcript }) : []
        case 'image':
        case 'video':
        case 'document':
          codec.warn('dropped_assistant_media')
          return []
        default:
          return user(part)
      }
    })
    // Other dialects may put text first; this one needs thinking first.
    return own ? blocks : [...blocks.filter(isThinking), ...blocks.filter((block) => !isThinking(block))]
  }

  return {
    user,
    assistant,
    result(part) {
      const content = part.parts.flatMap(user)
      return {
        ...ext(part),
        type: 'tool_result',
        tool_use_id: wireCallId(part.callId),
        ...(content.length === 0 ? {} : { content: soleText(content) ?? content }),
        ...(part.isError ? { is_error: true } : {}),
        ...cacheControl(part.cache),
      }
    },
    orphan(part) {
      const content = part.parts.flatMap(user)
      const text = content
        .map((block) => (block.type === 'text' ? block.text : ''))
        .join('\n')
        .trim()
      const rest = content.filter((block) => block.type !== 'text')
      return text === '' ? rest : [{ type: 'text', text: `Tool result: ${text}` }, ...rest]
    },
    instruction(parts, wrapped) {
      return parts.flatMap(user).map((block) => {
        if (!wrapped || block.type !== 'text') return block
        return { ...block, text: `<system-reminder>\n${block.text}\n</system-reminder>` }
      })
    },
  }
}

export function cacheControl(mark: Frozen<CacheMark> | undefined): Block {
  if (mark === undefined) return {}
  // Only another vendor has 30 minutes; the default of 5 minutes costs the same to write.
  return { cache_control: { type: 'ephemeral', ...(mark.ttl === '1h' || mark.ttl === '5m' ? { ttl: mark.ttl } : {}) } }
}

export function isThinking(block: Block): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

function textBlock(part: Frozen<{ text: string; cache?: CacheMark; ext?: Part['ext'] }>, citations?: unknown[]): Block[] {
  if (part.text.trim() === '') return []
  return [{ ...ext(part), type: 'text', text: part.text, ...(citations ? { citations } : {}), ...cacheControl(part.cache) }]
}

function thinkingBlock(part: Extract<Frozen<Part>, { t: 'reasoning' }>, codec: CodecContext): Block[] {
  if (part.redacted !== undefined) {
    return fits(part.encrypted ?? part.signature, codec) ? [{ type: 'redacted_thinking', data: part.redacted }] : []
  }
  if (!fits(part.signature, codec)) return []
  return [{ ...ext(part), type: 'thinking', thinking: thinkingText(part), signature: part.signature.value }]
}

function toolUse(part: Frozen<ToolCallPart & Part>, codec: CodecContext): Block {
  return {
    ...ext(part),
    type: 'tool_use',
    id: wireCallId(part.id),
    name: wireName(flatName(part.name, part.namespace), codec),
    input: callInput(part.args, part.kind === 'custom', () => codec.warn('tool_args_wrapped')),
    ...(part.caller === undefined ? {} : { caller: part.caller }),
    ...cacheControl(part.cache),
  }
}

function fits(signature: Frozen<Signature> | undefined, codec: CodecContext): signature is Frozen<Signature> {
  if (signature?.dialect !== 'messages') return false
  return signature.modelFamily === '' || signature.modelFamily === codec.caps.family
}

function soleText(content: readonly Block[]): string | undefined {
  const [first] = content
  const plain = content.length === 1 && first?.type === 'text' && Object.keys(first).length === 2
  return plain ? (first.text as string) : undefined
}

function ext(part: Frozen<{ ext?: Part['ext'] }>): JsonObject {
  return (part.ext?.messages ?? {}) as JsonObject
}
