// Converts finishReason to the canonical finish and back.
import type { Finish } from '../../../core/types/request/answer.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'

const FILTERED: Finish = 'content_filter'
const MALFORMED: Finish = 'malformed_tool_call'

const FROM_WIRE: ReadonlyMap<string, Finish> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', FILTERED],
  ['RECITATION', FILTERED],
  ['LANGUAGE', FILTERED],
  ['BLOCKLIST', FILTERED],
  ['PROHIBITED_CONTENT', FILTERED],
  ['SPII', FILTERED],
  ['IMAGE_SAFETY', FILTERED],
  ['IMAGE_PROHIBITED_CONTENT', FILTERED],
  ['IMAGE_RECITATION', FILTERED],
  ['MALFORMED_FUNCTION_CALL', MALFORMED],
  ['UNEXPECTED_TOOL_CALL', MALFORMED],
  ['TOO_MANY_TOOL_CALLS', MALFORMED],
  ['NO_IMAGE', 'other'],
  ['IMAGE_OTHER', 'other'],
  ['OTHER', 'other'],
  ['CONTINUATION', 'other'],
])

const TO_WIRE: Readonly<Record<Finish, string>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  tool_calls: 'STOP',
  pause: 'STOP',
  compaction: 'STOP',
  length: 'MAX_TOKENS',
  context_window: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  refusal: 'SAFETY',
  malformed_tool_call: 'MALFORMED_FUNCTION_CALL',
  error: 'OTHER',
  other: 'OTHER',
}

/** Null while the model has not stopped. */
export function nativeFinish(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value !== 'FINISH_REASON_UNSPECIFIED' ? value : null
}

export function finishOf(native: string): Finish {
  return FROM_WIRE.get(native) ?? 'other'
}

/** Google's own value survives the round trip when it still has the same meaning. */
export function finishReason(finish: Finish, native: string, codec: CodecContext): string {
  if (codec.upstream === 'generate_content' && FROM_WIRE.get(native) === finish) return native
  return TO_WIRE[finish]
}
