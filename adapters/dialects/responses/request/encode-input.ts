// Encodes canonical system blocks and messages as input items. No ids are sent, because they name items in another store. Every output
// follows its call, and reasoning is sent only to the vendor that made it.
import type {
  CanonicalRequest,
  Frozen,
  Message,
  Part,
  ReasoningPart,
  SystemBlock,
  ToolCallPart,
  ToolResultPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { upstreamCallId } from '../../shared/names.ts'
import { inputText } from './custom-tool.ts'
import { type ContentRules, encodeContent, encodeOutput } from './encode-content.ts'
import { toolName } from './encode-tools.ts'

export interface EncodedInput {
  instructions?: string
  input: object[]
}

export function encodeInput(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedInput {
  const writer = new InputWriter(request, codec)
  const blocks = [...request.system]
  const instructions = takeInstructions(blocks, codec)
  for (const block of blocks) writer.instruction(block)
  for (const message of request.messages) writer.message(message)
  return { ...(instructions === undefined ? {} : { instructions }), input: writer.items }
}

/** Returns the system blocks for `instructions`: those that came from there, and the first block when the backend requires the field. */
function takeInstructions(blocks: Frozen<SystemBlock>[], codec: CodecContext): string | undefined {
  const marked = blocks.findIndex((block) => block.parts.some((part) => part.ext?.responses?.instructions === true))
  const index = marked === -1 && codec.quirks.instructionsRequired && blocks.length > 0 ? 0 : marked
  if (index === -1) return codec.quirks.instructionsRequired ? '' : undefined
  const [block] = blocks.splice(index, 1)
  return textOf(block?.parts ?? [])
}

class InputWriter {
  readonly items: object[] = []
  readonly #request: Frozen<CanonicalRequest>
  readonly #codec: CodecContext
  readonly #rules: ContentRules
  readonly #calls = new Map<string, 'function' | 'custom'>()
  /** The last result of each call applies. */
  readonly #results = new Map<string, Frozen<ToolResultPart>>()
  #content: object[] = []

  constructor(request: Frozen<CanonicalRequest>, codec: CodecContext) {
    this.#request = request
    this.#codec = codec
    this.#rules = { codec, ownFiles: request.source === 'responses' || request.source === 'chat' }
    for (const message of request.messages) {
      for (const part of message.parts) if (part.t === 'tool_result') this.#results.set(part.callId, part)
    }
  }

  instruction(block: Frozen<SystemBlock> | Frozen<Message>): void {
    const content = encodeContent(block.parts, this.#rules)
    if (content.length > 0) this.items.push({ type: 'message', role: this.#instructionRole(block.role), content })
  }

  message(message: Frozen<Message>): void {
    if (message.role === 'assistant') this.#assistant(message)
    else if (message.role === 'system' || message.role === 'developer') this.instruction(message)
    else this.#user(message)
  }

  #instructionRole(role: string): string {
    return role === 'developer' && this.#codec.quirks.developerRole === false ? 'system' : role
  }

  #user(message: Frozen<Message>): void {
    for (const part of message.parts) {
      if (part.t === 'tool_result') {
        this.#flush('user')
        this.#result(part)
      } else this.#content.push(...encodeContent([part], this.#rules))
    }
    this.#flush('user')
  }

  #result(part: Frozen<ToolResultPart>): void {
    const kind = this.#calls.get(part.callId)
    const { state } = this.#request
    if (kind === undefined && state?.previousResponseId === undefined && state?.conversation === undefined) {
      this.#orphan(part)
      return
    }
    if (this.#results.get(part.callId) !== part) return
    const type = kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output'
    this.items.push({ type, call_id: this.#callId(part.callId), output: encodeOutput(part, this.#rules) })
  }

  /** A result whose call is missing (trimmed history) becomes user text; an empty one is dropped. */
  #orphan(part: Frozen<ToolResultPart>): void {
    const output = encodeOutput(part, this.#rules)
    if (output.length === 0) return
    const content =
      typeof output === 'string'
        ? [{ type: 'input_text', text: `Tool result: ${output}` }]
        : [{ type: 'input_text', text: 'Tool result:' }, ...output]
    this.items.push({ type: 'message', role: 'user', content })
  }

  #assistant(message: Frozen<Message>): void {
    const open: Frozen<ToolCallPart>[] = []
    for (const part of message.parts) {
      if (part.t === 'text' || part.t === 'refusal') {
        this.#content.push(...this.#said(part))
        continue
      }
      this.#flush('assistant', message.phase)
      if (part.t === 'tool_call') {
        this.#call(part)
        if (!this.#results.has(part.id)) open.push(part)
      } else this.#other(part)
    }
    this.#flush('assistant', message.phase)
    for (const call of open) this.#unanswered(call)
  }

  #said(part: Frozen<Part>): object[] {
    if (part.t === 'refusal') return part.text === '' ? [] : [{ type: 'refusal', refusal: part.text }]
    if (part.t !== 'text' || part.text === '') return []
    const annotations = (part.annotations ?? []).filter((one) => one.dialect === 'responses').map((one) => one.raw)
    return [{ type: 'output_text', text: part.text, annotations }]
  }

  #call(part: Frozen<ToolCallPart>): void {
    this.#calls.set(part.id, part.kind)
    const head = { call_id: this.#callId(part.id), name: toolName(part.name, this.#request, this.#codec) }
    const place = part.namespace === undefined ? {} : { namespace: part.namespace }
    const caller = part.caller === undefined || this.#request.source !== 'responses' ? {} : { caller: part.caller }
    if (part.kind === 'custom')
      this.items.push({ type: 'custom_tool_call', ...head, ...place, input: inputText(part.args), ...caller })
    else this.items.push({ type: 'function_call', ...head, ...place, arguments: part.args === '' ? '{}' : part.args, ...caller })
  }

  /** This API refuses a call without its output, but a responses caller may continue on purpose. */
  #unanswered(call: Frozen<ToolCallPart>): void {
    if (this.#request.source === 'responses') return
    this.#codec.warn('missing_tool_result')
    const type = call.kind === 'custom' ? 'custom_tool_call_output' : 'function_call_output'
    this.items.push({ type, call_id: this.#callId(call.id), output: 'Error: No result provided' })
  }

  #other(part: Frozen<Part>): void {
    if (part.t === 'reasoning') this.#reasoning(part)
    else if (part.t === 'server_tool' || part.t === 'opaque') {
      if (part.dialect === 'responses') this.items.push(part.raw as object)
    } else if (part.t === 'tool_result') this.#result(part)
    else this.#codec.warn('dropped_assistant_media')
  }

  #reasoning(part: Frozen<ReasoningPart>): void {
    const secret = part.signature ?? part.encrypted
    const fits = secret?.dialect === 'responses' && (secret.modelFamily === '' || secret.modelFamily === this.#codec.caps.family)
    if (!fits || secret === undefined || secret.value === '') return
    // Other dialects keep the summary as a text. In this dialect a text is raw thought, which is not sent back.
    const said = part.summary ?? (this.#request.source === 'responses' || part.text === '' ? [] : [part.text])
    const summary = said.map((text) => ({ type: 'summary_text', text }))
    this.items.push({ type: 'reasoning', summary, encrypted_content: secret.value })
  }

  #flush(role: 'user' | 'assistant', phase?: string): void {
    if (this.#content.length === 0) return
    this.items.push({ type: 'message', role, content: this.#content, ...(phase === undefined ? {} : { phase }) })
    this.#content = []
  }

  #callId(id: string): string {
    return upstreamCallId(id, /^[\s\S]{1,64}$/, (hash) => `call_${hash}`)
  }
}

function textOf(parts: readonly Frozen<Part>[]): string {
  return parts.map((part) => (part.t === 'text' ? part.text : '')).join('\n')
}
