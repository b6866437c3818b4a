// Writes a stored response as the events of a stream. A text is one delta.
import type { Json, JsonObject } from '../../../core/types/request/canonical.ts'

export function frameOf(type: string, sequence: number, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
}

/** Returns the frames in their order. `response`: whole, as the caller got it. */
export function replayed(response: JsonObject): string[] {
  const frames: string[] = []
  const put = (type: string, members: JsonObject): void => void frames.push(frameOf(type, frames.length, members))
  const running = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
  put('response.created', { response: running })
  put('response.in_progress', { response: running })
  putItems(put, response)
  return [...frames, ended(response, frames.length)]
}

/** Returns the frames after those that say that the response has begun. `first`: the number of the first one. */
export function replayedRest(response: JsonObject, first: number): string[] {
  const frames: string[] = []
  putItems((type, members) => void frames.push(frameOf(type, first + frames.length, members)), response)
  return [...frames, ended(response, first + frames.length)]
}

/** Returns the last frame of a stream. */
export function ended(response: JsonObject, sequence: number): string {
  // The dialect has no event for a cancelled response.
  const type = response.status === 'cancelled' ? 'response.incomplete' : `response.${response.status}`
  return frameOf(type, sequence, { response })
}

function putItems(put: Put, response: JsonObject): void {
  const output = Array.isArray(response.output) ? (response.output as JsonObject[]) : []
  for (const [index, item] of output.entries()) putItem(put, item, index)
}

type Put = (type: string, members: JsonObject) => void

function putItem(put: Put, item: JsonObject, index: number): void {
  const at = { item_id: item.id as Json, output_index: index }
  put('response.output_item.added', { output_index: index, item: begun(item) })
  if (item.type === 'message')
    for (const [at2, part] of listOf(item.content).entries()) putPart(put, { ...at, content_index: at2 }, part)
  else if (item.type === 'function_call') {
    put('response.function_call_arguments.delta', { ...at, delta: item.arguments as Json })
    put('response.function_call_arguments.done', { ...at, name: item.name as Json, arguments: item.arguments as Json })
  } else if (item.type === 'custom_tool_call') {
    put('response.custom_tool_call_input.delta', { ...at, delta: item.input as Json })
    put('response.custom_tool_call_input.done', { ...at, input: item.input as Json })
  } else if (item.type === 'reasoning') {
    for (const [place, part] of listOf(item.summary).entries()) {
      const where = { ...at, summary_index: place }
      put('response.reasoning_summary_part.added', { ...where, part: { ...part, text: '' } })
      put('response.reasoning_summary_text.delta', { ...where, delta: part.text as Json })
      put('response.reasoning_summary_text.done', { ...where, text: part.text as Json })
      put('response.reasoning_summary_part.done', { ...where, part })
    }
    for (const [place, part] of listOf(item.content).entries()) putPart(put, { ...at, content_index: place }, part)
  }
  put('response.output_item.done', { output_index: index, item })
}

function putPart(put: Put, at: JsonObject, part: JsonObject): void {
  if (part.type === 'refusal') {
    put('response.content_part.added', { ...at, part: { ...part, refusal: '' } })
    put('response.refusal.delta', { ...at, delta: part.refusal as Json })
    put('response.refusal.done', { ...at, refusal: part.refusal as Json })
  } else {
    const name = part.type === 'reasoning_text' ? 'reasoning_text' : 'output_text'
    const logprobs: JsonObject = name === 'output_text' ? { logprobs: [] } : {}
    const empty: JsonObject = name === 'output_text' ? { annotations: [], logprobs: [] } : {}
    put('response.content_part.added', { ...at, part: { ...part, ...empty, text: '' } })
    put(`response.${name}.delta`, { ...at, delta: part.text as Json, ...logprobs })
    for (const [index, annotation] of listOf(part.annotations).entries())
      put('response.output_text.annotation.added', { ...at, annotation_index: index, annotation })
    put(`response.${name}.done`, { ...at, text: part.text as Json, ...logprobs })
  }
  put('response.content_part.done', { ...at, part })
}

/** The item as it is before its first content. */
function begun(item: JsonObject): JsonObject {
  return {
    ...item,
    ...(item.status === undefined ? {} : { status: 'in_progress' }),
    ...(item.content === undefined || item.content === null ? {} : { content: [] }),
    ...(item.summary === undefined ? {} : { summary: [] }),
    ...(typeof item.arguments === 'string' ? { arguments: '' } : {}),
    ...(item.type === 'custom_tool_call' ? { input: '' } : {}),
  }
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : []
}
