// Encodes canonical messages as contents[]: alternating user and model turns that start with the user, every call answered in the next
// turn.
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
import { modelParts, userParts, type WirePart } from '../response/encode-parts.ts'
import { functionResponses, orphanResult } from './encode-results.ts'

export interface WireContent {
  role: 'user' | 'model'
  parts: WirePart[]
}

interface Turn {
  model: boolean
  messages: Frozen<Message>[]
  /** True when a message follows the user's last one. */
  current: boolean
}

/** Returns an empty list when no message has content. */
export function encodeContents(request: Frozen<CanonicalRequest>, codec: CodecContext): WireContent[] {
  const field = historyField(request.source)
  const out: WireContent[] = []
  let open: Frozen<ToolCallPart>[] = []
  for (const turn of turnsOf(request.messages)) {
    if (turn.model) {
      const parts = turn.messages.flatMap((message) => message.parts)
      push(out, 'model', modelParts(parts, field, turn.current && codec.caps.thoughtSignature === true, codec))
      open = parts.filter((part) => part.t === 'tool_call')
    } else {
      push(out, 'user', userTurn(turn.messages, open, field, codec))
      open = []
    }
  }
  // A history that ends with calls still needs their responses.
  push(out, 'user', functionResponses(open, new Map(), field, codec))
  if (out[0]?.role === 'model') out.unshift({ role: 'user', parts: [{ text: 'Continue.' }] })
  if (out.at(-1)?.role === 'model' && codec.caps.prefill === false) {
    codec.warn('dropped_prefill')
    out.push({ role: 'user', parts: [{ text: 'Continue.' }] })
  }
  return out
}

function turnsOf(messages: readonly Frozen<Message>[]): Turn[] {
  const said = messages.findLastIndex(
    (message) => message.role === 'user' && message.parts.some((part) => part.t !== 'tool_result'),
  )
  const out: Turn[] = []
  for (const [index, message] of messages.entries()) {
    const model = message.role === 'assistant'
    let last = out.at(-1)
    if (last === undefined || last.model !== model) {
      last = { model, messages: [], current: false }
      out.push(last)
    }
    last.messages.push(message)
    last.current ||= index > said
  }
  return out
}

function userTurn(
  messages: readonly Frozen<Message>[],
  calls: readonly Frozen<ToolCallPart>[],
  field: string,
  codec: CodecContext,
): WirePart[] {
  const ids = new Set(calls.map((call) => call.id))
  const results = new Map<string, Frozen<ToolResultPart>>()
  const rest: WirePart[] = []
  for (const message of messages) {
    const instruction = message.role === 'system' || message.role === 'developer'
    for (const part of message.parts) {
      // The later of two results for one call applies.
      if (part.t === 'tool_result') {
        if (ids.has(part.callId)) results.set(part.callId, part)
        else rest.push(...orphanResult(part, field, codec))
      } else rest.push(...(instruction ? reminder(part) : userParts(part, field, codec)))
    }
  }
  return [...functionResponses(calls, results, field, codec), ...rest]
}

/** An instruction inside the conversation keeps its place: contents have no system role. */
function reminder(part: Frozen<Part>): WirePart[] {
  return part.t === 'text' && part.text !== '' ? [{ text: `<system-reminder>\n${part.text}\n</system-reminder>` }] : []
}

function push(out: WireContent[], role: WireContent['role'], parts: WirePart[]): void {
  if (parts.length === 0) return
  const last = out.at(-1)
  if (last?.role === role) last.parts.push(...parts)
  else out.push({ role, parts })
}
