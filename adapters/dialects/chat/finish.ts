// Converts finish_reason in both directions, with the values that compatible vendors use.
import { entryOf } from '../../../core/collections/entry-of.ts'
import type { Finish } from '../../../core/types/request/answer.ts'
import { settleFinish } from '../shared/finish.ts'

const FROM_WIRE: Readonly<Record<string, Finish>> = {
  stop: 'stop',
  eos: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop_sequence',
  length: 'length',
  max_tokens: 'length',
  model_length: 'context_window',
  tool_calls: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  sensitive: 'content_filter',
  error: 'error',
  insufficient_system_resource: 'error',
}

const TO_WIRE: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  context_window: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  refusal: 'stop',
  pause: 'stop',
  malformed_tool_call: 'stop',
  compaction: 'stop',
  error: 'stop',
  other: 'stop',
}

const WIRE_WORDS: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'])

/** Content takes precedence over the finish reason: an answer with only a refusal is a refusal, and tool calls override `stop`. */
export function decodeFinish(native: string | undefined, seen: { toolCall: boolean; refusalOnly: boolean }): Finish {
  const mapped = native === undefined ? 'stop' : (entryOf(FROM_WIRE, native) ?? 'other')
  const finish = settleFinish(mapped, seen.toolCall)
  return finish === 'stop' && seen.refusalOnly ? 'refusal' : finish
}

/** A refusal that the caller cannot read as `message.refusal` (or that the vendor reports as a stop reason) becomes a filtered answer. */
export function encodeFinish(finish: Finish, native: string, seen: { toolCall: boolean; refusal: boolean }): string {
  if (finish === 'refusal') return seen.refusal && native !== 'refusal' ? 'stop' : 'content_filter'
  return TO_WIRE[settleFinish(finish, seen.toolCall)]
}

/** On the byte lane: returns the value for the caller in place of the upstream's; the same value when nothing has to change. */
export function callerFinishWord(native: string, toolCall: boolean): string {
  const word = WIRE_WORDS.has(native) ? native : TO_WIRE[entryOf(FROM_WIRE, native) ?? 'other']
  if (word === 'stop' && toolCall) return 'tool_calls'
  if (word === 'tool_calls' && !toolCall) return 'stop'
  return word
}
