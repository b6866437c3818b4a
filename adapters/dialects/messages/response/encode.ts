// Encodes a whole message for a caller of this dialect, with every key of its SDK's types.
import { stringify } from '../../../../core/json/raw-json.ts'
import { UNSIGNED, wrapSignature } from '../../../../core/models/signature.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import type {
  Frozen,
  JsonObject,
  Part,
  ReasoningPart,
  Signature,
  ToolCallPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { hasToolCall } from '../../shared/finish.ts'
import { usageOrEstimate } from '../../shared/unreported-usage.ts'
import { stopFields } from '../finish.ts'
import { callInput } from '../request/decode-tools.ts'
import { flatName } from '../tool-names.ts'
import { encodeUsage } from '../usage.ts'
import { type Block, thinkingText } from './block.ts'
import { encodeCitations } from './citations.ts'

export function encodeResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): string {
  return stringify(buildResponse(response, codec))
}

/** Returns the value that is written. */
export function buildResponse(response: Frozen<CanonicalResponse>, codec: CodecContext): object {
  if (codec.operation === 'count_tokens') return { input_tokens: response.usage.inputTotal }
  const choice = response.choices[0]
  const parts = (choice?.parts ?? []) as Frozen<Part>[]
  const refusal = parts.map((part) => (part.t === 'refusal' ? part.text : '')).join('')
  const own = (response.ext.messages ?? {}) as JsonObject
  const { id, type, role, model } = messageHead(response, codec)
  const content: Block[] = []
  for (const part of parts) content.push(...answerBlocks(part, codec))
  const stop = stopFields(choice ?? { finish: 'other' }, hasToolCall(parts as Part[]), refusal)
  return {
    ...own,
    id,
    type,
    role,
    model,
    content,
    stop_reason: stop.stop_reason,
    stop_sequence: stop.stop_sequence,
    stop_details: stop.stop_details,
    container: own.container ?? null,
    diagnostics: own.diagnostics ?? null,
    usage: encodeUsage(usageOrEstimate(response.usage, parts, codec), response.serviceTier),
  }
}

export function messageHead({ id, model }: { id: string; model: string }, codec: CodecContext) {
  return { id: id.startsWith('msg_') ? id : codec.id('msg_'), type: 'message', role: 'assistant', model: model || codec.model }
}

/**
 * Returns the secret of a reasoning part for the caller: this dialect's own as it is, others in the envelope. A text without one gets an
 * empty envelope, because clients drop unsigned blocks. '' when there is neither.
 */
export function thinkingSignature(part: Frozen<ReasoningPart>): string {
  const signature = part.signature ?? part.encrypted
  if (signature !== undefined && signature.value !== '') return carried(signature)
  return thinkingText(part) === '' ? '' : UNSIGNED
}

/** Another vendor signed the call: an empty thinking block before it carries the secret. */
export function callSignatureBlock(signature: Frozen<Signature> | undefined): Block | null {
  return signature === undefined || signature.value === ''
    ? null
    : { type: 'thinking', thinking: '', signature: carried(signature) }
}

export function toolUseHead({
  id,
  name,
  namespace,
  caller,
}: Frozen<Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'caller'>>): Block {
  return { type: 'tool_use', id, name: flatName(name, namespace), caller: caller ?? { type: 'direct' } }
}

function answerBlocks(part: Frozen<Part>, codec: CodecContext): Block[] {
  switch (part.t) {
    case 'text': {
      const citations = encodeCitations(part.annotations)
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...(citations ? { citations } : {}) }]
    }
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    case 'reasoning': {
      if (part.redacted !== undefined) return [{ type: 'redacted_thinking', data: part.redacted }]
      const block = { type: 'thinking', thinking: thinkingText(part), signature: thinkingSignature(part) }
      return block.thinking === '' && block.signature === '' ? [] : [block]
    }
    case 'tool_call': {
      const signed = callSignatureBlock(part.signature)
      const input = callInput(part.args, part.kind === 'custom', () => {})
      const call = { ...toolUseHead(part), input }
      return signed === null ? [call] : [signed, call]
    }
    case 'audio':
      return part.transcript ? [{ type: 'text', text: part.transcript }] : []
    case 'server_tool':
    case 'opaque':
      return part.dialect === 'messages' ? [part.raw as Block] : []
    case 'image':
      codec.warn('dropped_image_output')
      return []
    default:
      return []
  }
}

function carried(signature: Frozen<Signature>): string {
  return signature.dialect === 'messages' ? signature.value : wrapSignature(signature)
}
