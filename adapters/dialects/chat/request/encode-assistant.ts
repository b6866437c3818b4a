// Encodes an assistant turn of the history for a chat upstream; null when chat cannot express any of it.
import { signatureFits } from '../../../../core/models/signature.ts'
import type { Frozen, JsonObject, Message, Part, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { noteFlattened, travelsAsFunction, wireCallId, wireToolName } from '../tool-names.ts'
import { acceptsPartArrays } from './cache-marks.ts'
import { bareText, wireParts } from './encode-content.ts'

type AnyMessage = Frozen<Message>

/** `turn`: the message, or adjacent ones that form one turn in the caller's dialect (responses items). */
export function encodeAssistant(turn: readonly AnyMessage[], own: boolean, codec: CodecContext): JsonObject | null {
  const parts = turn.length === 1 ? (turn[0] as AnyMessage).parts : turn.flatMap((message) => message.parts)
  const calls = parts.filter((part) => part.t === 'tool_call')
  const refusal = parts.map((part) => (part.t === 'refusal' ? part.text : '')).join('')
  // Only OpenAI supports the refusal field in requests.
  const asRefusal = refusal !== '' && (own || codec.caps.family === 'gpt')
  const content = assistantContent(turn, own, asRefusal ? '' : refusal, codec)
  const audio = own ? parts.find((part) => part.t === 'audio' && part.id !== undefined) : undefined
  if (content === null && calls.length === 0 && !asRefusal && audio === undefined) return null
  if (parts.some((part) => part.t === 'image')) codec.warn('dropped_image')
  const name = turn[0]?.name
  return {
    role: 'assistant',
    content: content ?? (calls.length > 0 ? (codec.quirks.emptyContentForCalls ?? null) : null),
    ...(name === undefined ? {} : { name }),
    ...(asRefusal ? { refusal } : {}),
    ...(audio?.t === 'audio' ? { audio: { id: audio.id as string } } : {}),
    ...(calls.length > 0 ? { tool_calls: calls.map((call) => encodeCall(call, codec)), ...replayedReasoning(parts, codec) } : {}),
    ...((turn[0]?.ext?.chat ?? {}) as JsonObject),
  }
}

function assistantContent(
  turn: readonly AnyMessage[],
  own: boolean,
  refusal: string,
  codec: CodecContext,
): string | JsonObject[] | null {
  // Blocks of one message are continuous text; separate messages are separate lines.
  const bare = own || turn.length > 1 ? null : bareText(turn[0]?.parts ?? [], '')
  if (bare !== null) return bare === '' ? null : bare
  const spoken = turn.map((message) =>
    message.parts.filter((part) => part.t === 'text' || (part.t === 'opaque' && part.dialect === 'chat')),
  )
  const wire = spoken.flat().flatMap((part) => wireParts(part, own, codec))
  const rich = wire.some((part) => part.type !== 'text' || Object.keys(part).length > 2)
  if ((own && wire.length > 1) || (rich && (own || acceptsPartArrays(codec)))) return wire
  const texts = spoken.map((parts) => parts.map((part) => (part.t === 'text' ? part.text : '')).join(''))
  const joined = [...texts, refusal].filter((line) => line !== '').join('\n')
  return joined === '' ? null : joined
}

function encodeCall(call: Frozen<ToolCallPart> & Frozen<Part>, codec: CodecContext): JsonObject {
  const id = wireCallId(call.id, codec)
  const name = wireToolName(call.name, call.namespace, codec)
  const fits = signatureFits(call.signature, 'chat', codec.caps.family) || signatureFits(call.signature, 'chat', '')
  const secret: JsonObject =
    fits && call.signature !== undefined ? { extra_content: { google: { thought_signature: call.signature.value } } } : {}
  if (travelsAsFunction(call, codec)) {
    noteFlattened(name, codec)
    return { id, type: 'function', function: { name, arguments: JSON.stringify({ input: call.args }) }, ...secret }
  }
  if (call.kind === 'custom') return { id, type: 'custom', custom: { name, input: call.args }, ...secret }
  return { id, type: 'function', function: { name, arguments: call.args === '' ? '{}' : call.args }, ...secret }
}

/** DeepSeek, Kimi, GLM, Qwen and OpenRouter need the thoughts of tool turns; for other vendors they are unknown fields. */
function replayedReasoning(parts: readonly Frozen<Part>[], codec: CodecContext): JsonObject {
  const field = codec.quirks.replayReasoning
  if (field === undefined) return {}
  const thoughts = parts.filter((part) => part.t === 'reasoning')
  const text = thoughts
    .map((part) => part.text || (part.summary ?? []).join('\n\n'))
    .filter((thought) => thought !== '')
    .join('\n\n')
  const details = thoughts.flatMap((part) => (part.ext?.chat?.reasoning_details as unknown[] | undefined) ?? [])
  return {
    ...(text === '' ? {} : { [field]: text }),
    ...(field === 'reasoning' && details.length > 0 ? { reasoning_details: details as JsonObject[] } : {}),
  }
}
