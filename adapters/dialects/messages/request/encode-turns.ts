// Encodes the history as messages[]: turns alternate, every call is answered at the start of the next user turn in call order, and
// instructions inside the conversation keep their place.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
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
import type { Block } from '../response/block.ts'
import { wireCallId } from '../tool-names.ts'
import { type BlockWriter, blockWriter } from './encode-blocks.ts'

export interface WireMessage {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
}

/** @throws GatewayError.unsupported when nothing is left to send. */
export function encodeTurns(request: Frozen<CanonicalRequest>, citations: boolean, codec: CodecContext): WireMessage[] {
  const builder = new TurnBuilder(blockWriter(request, citations, codec), codec)
  for (const message of request.messages) builder.add(message)
  const out = builder.finish()
  trimLastAssistant(out)
  if (out.length === 0)
    throw GatewayError.unsupported(historyField(request.source), 'There is nothing to send: every message is empty.')
  if (out[0]?.role !== 'user') out.unshift(continuation())
  if (out.at(-1)?.role === 'assistant' && codec.caps.prefill === false) {
    codec.warn('dropped_prefill')
    out.push(continuation())
  }
  return out
}

class TurnBuilder {
  readonly #out: WireMessage[] = []
  readonly #blocks: BlockWriter
  readonly #codec: CodecContext
  /** Calls of the current assistant turn; their results open the next user turn. */
  #calls: Frozen<ToolCallPart>[] = []
  #results = new Map<string, Frozen<ToolResultPart & Part>>()
  #rest: Block[] = []

  constructor(blocks: BlockWriter, codec: CodecContext) {
    this.#blocks = blocks
    this.#codec = codec
  }

  add(message: Frozen<Message>): void {
    if (message.role === 'assistant') this.#assistant(message)
    else if (message.role === 'system' || message.role === 'developer') this.#instruction(message)
    else for (const part of message.parts) this.#user(part)
  }

  finish(): WireMessage[] {
    this.#closeUser()
    return this.#out
  }

  #assistant(message: Frozen<Message>): void {
    const blocks = this.#blocks.assistant(message.parts)
    if (blocks.length === 0) return
    if (this.#rest.length > 0 || this.#results.size > 0) this.#closeUser()
    this.#push('assistant', blocks)
    for (const part of message.parts) if (part.t === 'tool_call') this.#calls.push(part)
  }

  #user(part: Frozen<Part>): void {
    if (part.t !== 'tool_result') this.#rest.push(...this.#blocks.user(part))
    else if (this.#calls.some((call) => call.id === part.callId)) this.#results.set(part.callId, part)
    else this.#rest.push(...this.#blocks.orphan(part))
  }

  /**
   * Encodes it as a system message after a user turn when the model supports that, otherwise as a reminder in the user turn. It is never
   * moved to the top.
   */
  #instruction(message: Frozen<Message>): void {
    const waiting = this.#calls.some((call) => !this.#results.has(call.id))
    const turn = this.#rest.length > 0 || this.#results.size > 0 ? 'user' : this.#out.at(-1)?.role
    if (this.#codec.caps.midSystem === true && !waiting && turn !== undefined && turn !== 'assistant') {
      const blocks = this.#blocks.instruction(message.parts, false)
      if (blocks.length === 0) return
      this.#closeUser()
      this.#push('system', blocks)
    } else this.#rest.push(...this.#blocks.instruction(message.parts, true))
  }

  #closeUser(): void {
    const blocks = [...this.#calls.map((call) => this.#resultOf(call)), ...this.#rest]
    this.#calls = []
    this.#results = new Map()
    this.#rest = []
    this.#push('user', blocks)
  }

  #resultOf(call: Frozen<ToolCallPart>): Block {
    const result = this.#results.get(call.id)
    if (result !== undefined) return this.#blocks.result(result)
    this.#codec.warn('missing_tool_result')
    return { type: 'tool_result', tool_use_id: wireCallId(call.id), is_error: true, content: 'No result provided' }
  }

  #push(role: WireMessage['role'], blocks: Block[]): void {
    if (blocks.length === 0) return
    const last = this.#out.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else this.#out.push({ role, content: blocks })
  }
}

/** A prefill must not end with white space. */
function trimLastAssistant(out: WireMessage[]): void {
  const last = out.at(-1)
  const block = last?.content.at(-1)
  if (last?.role !== 'assistant' || block?.type !== 'text') return
  last.content[last.content.length - 1] = { ...block, text: (block.text as string).trimEnd() }
}

function continuation(): WireMessage {
  return { role: 'user', content: [{ type: 'text', text: 'Continue.' }] }
}
