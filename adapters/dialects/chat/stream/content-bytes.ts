// Measures the content of a delta or message: it commits a stream, and an aborted request is billed by it.
import { byteLength } from '../../../../core/text/bytes.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../read.ts'
import { callArgs, callName } from './tool-slots.ts'

export interface ContentSeen {
  any: boolean
  text: boolean
  refusal: boolean
  /** Size of text, reasoning, refusal and arguments; UTF-8 bytes unless `measure` says another. */
  bytes: number
}

/** In a delta the content is a string; arrays are normalised earlier. A thought that is repeated in two fields counts once. */
export function contentOf(delta: JsonObject, measure = byteLength): ContentSeen {
  const size = (value: Json | undefined): number => (typeof value === 'string' && value !== '' ? measure(value) : 0)
  const text = size(delta.content)
  const refusal = size(delta.refusal)
  let bytes = text + refusal + (size(delta.reasoning_content) || size(delta.reasoning))
  let any = bytes > 0
  const legacy = isObject(delta.function_call) ? [{ function: delta.function_call }] : []
  for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : legacy) {
    if (!isObject(call)) continue
    bytes += size(callArgs(call))
    if (callName(call) !== undefined || size(callArgs(call)) > 0) any = true
  }
  if (!any) any = filled(delta.reasoning_details) || filled(delta.images) || isObject(delta.audio)
  return { any, text: text > 0, refusal: refusal > 0, bytes }
}

function filled(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length > 0
}
