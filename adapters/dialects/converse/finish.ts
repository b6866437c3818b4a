// Converts `stopReason`.
import { entryOf } from '../../../core/collections/entry-of.ts'
import type { Finish } from '../../../core/types/request/answer.ts'
import { settleFinish } from '../shared/finish.ts'

const FROM_WIRE: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  model_context_window_exceeded: 'context_window',
  malformed_tool_use: 'malformed_tool_call',
  malformed_model_output: 'error',
}

export function decodeFinish(reason: string, hasToolCall: boolean): Finish {
  return settleFinish(entryOf(FROM_WIRE, reason) ?? (reason === '' ? 'stop' : 'other'), hasToolCall)
}
