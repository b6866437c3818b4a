// Encodes the history: turns alternate, every call is answered in the next user turn, and thinking is sent only with its signature.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { signatureFits } from '../../../../core/models/signature.ts'
import type {
  CanonicalRequest,
  Frozen,
  Message,
  Part,
  ToolCallPart,
  ToolResultPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { historyField } from '../../shared/history-field.ts'
import { callInput, flatName, wireCallId, wireName } from '../tool-names.ts'
import { documentBlock, imageBlock } from './media.ts'

export type Block = Record<string, unknown>

export interface WireMessage {
  role: 'user' | 'assistant'
  content: Block[]
}

const CACHE_POINT = { cachePoint: { type: 'default' } }

/** @throws GatewayError.unsupported when nothing is left to send, or for a part that no model there reads. */
export function encodeTurns(request: Frozen<CanonicalRequest>, codec: CodecContext): WireMessage[] {
  const turns = new Turns(request, codec)
  for (const message of request.messages) turns.add(message)
  const out = turns.finish()
  if (out.length === 0)
    throw GatewayError.unsupported(historyField(request.source), 'There is nothing to send: every message is empty.')
  if (out[0]?.role !== 'user') out.unshift({ role: 'user', content: [{ text: 'Continue.' }] })
  if (out.at(-1)?.role === 'assistant' && codec.caps.prefill === false) {
    codec.warn('dropped_prefill')
    out.push({ role: 'user', content: [{ text: 'Continue.' }] })
  }
  return out
}

export function withCachePoint(block: Block, cache: Frozen<Part>['cache'], codec: CodecContext): Block[] {
  return cache === undefined || codec.caps.cacheBreakpoints === false ? [block] : [block, CACHE_POINT]
}

class Turns {
  readonly #request: Frozen<CanonicalRequest>
  readonly #codec: CodecContext
  readonly #out: WireMessage[] = []
  #calls: Frozen<ToolCallPart>[] = []
  #results = new Map<string, Frozen<ToolResultPart & Part>>()
  #rest: Block[] = []
  #documents = 0

  constructor(request: Frozen<CanonicalRequest>, codec: CodecContext) {
    this.#request = request
    this.#codec = codec
  }

  add({ role, parts }: Frozen<Message>): void {
    if (role === 'assistant') return this.#assistant(parts)
    if (role === 'system' || role === 'developer') {
      for (const part of parts)
        if (part.t === 'text') this.#rest.push({ text: `<system-reminder>\n${part.text}\n</system-reminder>` })
      return
    }
    for (const part of parts) {
      if (part.t !== 'tool_result') this.#rest.push(...this.#user(part))
      else if (this.#calls.some(({ id }) => id === part.callId)) this.#results.set(part.callId, part)
      else this.#rest.push(...this.#orphan(part))
    }
  }

  finish(): WireMessage[] {
    this.#closeUser()
    return this.#out
  }

  #assistant(parts: readonly Frozen<Part>[]): void {
    const blocks = parts.flatMap((part) => this.#said(part))
    if (blocks.length === 0) return
    if (this.#rest.length > 0 || this.#results.size > 0) this.#closeUser()
    this.#push('assistant', [...blocks.filter(isThinking), ...blocks.filter((block) => !isThinking(block))])
    for (const part of parts) if (part.t === 'tool_call') this.#calls.push(part)
  }

  #said(part: Frozen<Part>): Block[] {
    switch (part.t) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? [] : withCachePoint({ text: part.text }, part.cache, this.#codec)
      case 'reasoning':
        return this.#thinking(part)
      case 'tool_call':
        return [
          {
            toolUse: {
              toolUseId: wireCallId(part.id),
              name: wireName(flatName(part.name, part.namespace), this.#codec),
              input: callInput(part.args, part.kind === 'custom', this.#codec),
            },
          },
        ]
      case 'image':
      case 'video':
      case 'document':
        this.#codec.warn('dropped_assistant_media')
        return []
      default:
        return []
    }
  }

  #thinking(part: Extract<Frozen<Part>, { t: 'reasoning' }>): Block[] {
    const { family } = this.#codec.caps
    const signature = part.signature as Parameters<typeof signatureFits>[0]
    if (part.redacted !== undefined && signatureFits((part.encrypted ?? part.signature) as typeof signature, 'messages', family))
      return [{ reasoningContent: { redactedContent: part.redacted } }]
    if (!signatureFits(signature, 'messages', family)) return []
    return [{ reasoningContent: { reasoningText: { text: part.text, signature: signature.value } } }]
  }

  #user(part: Frozen<Part>): Block[] {
    switch (part.t) {
      case 'text':
      case 'refusal':
        return part.text.trim() === '' ? [] : withCachePoint({ text: part.text }, part.cache, this.#codec)
      case 'image':
        return withCachePoint(imageBlock(part, this.#request), part.cache, this.#codec)
      case 'document':
        return withCachePoint(documentBlock(part, ++this.#documents, this.#request), part.cache, this.#codec)
      case 'audio':
      case 'video':
        throw GatewayError.unsupported(historyField(this.#request.source), `This target does not read ${part.t}.`)
      default:
        return []
    }
  }

  #result(part: Frozen<ToolResultPart & Part>): Block[] {
    const content = part.parts.flatMap((inner) => this.#user(inner)).filter((block) => !('cachePoint' in block))
    const status = part.isError === true ? { status: 'error' } : {}
    const toolResult = {
      toolUseId: wireCallId(part.callId),
      content: content.length > 0 ? content : [{ text: '(empty)' }],
      ...status,
    }
    return withCachePoint({ toolResult }, part.cache, this.#codec)
  }

  #orphan(part: Frozen<ToolResultPart>): Block[] {
    const blocks = part.parts.flatMap((inner) => this.#user(inner))
    return blocks.map((block) => (typeof block.text === 'string' ? { text: `Tool result: ${block.text}` } : block))
  }

  #closeUser(): void {
    const answers = this.#calls.flatMap((call) => this.#answer(call))
    const blocks = [...answers, ...this.#rest]
    // A document needs a text beside it.
    if (blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block))
      blocks.push({ text: 'See the document.' })
    this.#calls = []
    this.#results = new Map()
    this.#rest = []
    this.#push('user', blocks)
  }

  #answer(call: Frozen<ToolCallPart>): Block[] {
    const result = this.#results.get(call.id)
    if (result !== undefined) return this.#result(result)
    this.#codec.warn('missing_tool_result')
    return [{ toolResult: { toolUseId: wireCallId(call.id), status: 'error', content: [{ text: 'No result provided' }] } }]
  }

  #push(role: WireMessage['role'], blocks: Block[]): void {
    if (blocks.length === 0) return
    const last = this.#out.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else this.#out.push({ role, content: blocks })
  }
}

function isThinking(block: Block): boolean {
  return 'reasoningContent' in block
}
