// Converts stop_reason in both directions, with the stop_details of a refusal.
import { entryOf } from '../../../core/collections/entry-of.ts'
import type { Choice, Finish } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../shared/fields.ts'
import { settleFinish } from '../shared/finish.ts'

const FROM_WIRE: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  stop: 'stop',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_calls',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'context_window',
  compaction: 'compaction',
}

const TO_WIRE: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_window: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
  malformed_tool_call: 'end_turn',
  compaction: 'compaction',
  error: 'end_turn',
  other: 'end_turn',
}

export function decodeFinish(reason: string, hasToolCall: boolean): Finish {
  return settleFinish(entryOf(FROM_WIRE, reason) ?? (reason === '' ? 'stop' : 'other'), hasToolCall)
}

/** Returns the finish on the byte lane, which does not read content. */
export function finishWord(reason: string): Finish {
  return entryOf(FROM_WIRE, reason) ?? 'other'
}

export interface StopFields {
  stop_reason: string
  stop_sequence: string | null
  stop_details: Json
}

/** `refusal`: the text of the answer's refusal parts. */
export function stopFields(
  { finish, stopSequence, safety }: Frozen<Pick<Choice, 'finish' | 'stopSequence' | 'safety'>>,
  hasToolCall: boolean,
  refusal: string,
): StopFields {
  const settled = settleFinish(refusal !== '' && finish === 'stop' ? 'refusal' : finish, hasToolCall)
  const sequence = settled === 'stop_sequence' ? (stopSequence ?? null) : null
  const reason = settled === 'stop_sequence' && sequence === null ? 'end_turn' : TO_WIRE[settled]
  return {
    stop_reason: reason,
    stop_sequence: sequence,
    stop_details: reason === 'refusal' ? stopDetails(safety, refusal) : null,
  }
}

function stopDetails(safety: unknown, refusal: string): JsonObject {
  if (isObject(safety) && safety.type === 'refusal') return safety
  return { type: 'refusal', category: null, explanation: refusal === '' ? null : refusal }
}
