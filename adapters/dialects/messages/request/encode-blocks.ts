// Canonical parts → content blocks of a request. Thinking travels only with a signature of this model family; secrets and
// server items of other vendors vanish.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type {
  CacheMark,
  CanonicalRequest,
  Frozen,
  JsonObject,
  Part,
  Signature,
  ToolCallPart,
  ToolResultPart,
} from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { historyField } from '../../shared/history-field.ts'
import type { Block } from '../response/block.ts'
import { encodeCitations } from '../response/citations.ts'
import { thinkingText } from '../response/thinking-text.ts'
import { flatName, wireCallId, wireName } from '../tool-names.ts'
import { callInput } from './custom-input.ts'
import { documentBlock, imageBlock, type MediaContext } from './encode-media.ts'

export interface BlockWriter {
  /** A user part, or one inside a tool result; [] for what cannot or need not travel. */
  user(part: Frozen<Part>): Block[]
  assistant(parts: readonly Frozen<Part>[]): Block[]
  result(part: Frozen<ToolResultPart & Part>): Block
  /** A result whose call is not in the history: plain text of the user. */
  orphan(part: Frozen<ToolResultPart & Part>): Block[]
  /** An instruction in mid-conversation. */
  instruction(parts: readonly Frozen<Part>[], wrapped: boolean): Block[]
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
    // Another dialect's order may have text in front; here thinking comes first.
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
  // 30 minutes is another vendor's; the default of 5 minutes costs the same to write.
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
