// Corrects the finish after a decoder has mapped it.
import type { Finish } from '../../../core/types/request/answer.ts'
import type { Part } from '../../../core/types/request/canonical.ts'

/** A client tool call turns `stop` and an unknown reason into `tool_calls`; `tool_calls` without a call becomes `stop`. */
export function settleFinish(finish: Finish, hasToolCall: boolean): Finish {
  if (hasToolCall && (finish === 'stop' || finish === 'other')) return 'tool_calls'
  if (!hasToolCall && finish === 'tool_calls') return 'stop'
  return finish
}

export function hasToolCall(parts: readonly Part[]): boolean {
  return parts.some((part) => part.t === 'tool_call')
}
