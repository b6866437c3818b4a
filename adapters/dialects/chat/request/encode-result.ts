// A tool result as the text of a tool message, or as a user's words where its call is gone.
import type { Frozen, Json, JsonObject, Part, ToolResultPart } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { isObject } from '../read.ts'
import { acceptsPartArrays, cacheFields } from './cache-marks.ts'
import { isMedia, PART_SEPARATOR, textContent } from './encode-content.ts'

type Result = Frozen<ToolResultPart> & Frozen<Part>

/** Never empty: some upstreams refuse empty tool messages. */
export function resultContent(result: Result, codec: CodecContext): string | JsonObject[] {
  const plain = !result.isError && !result.parts.some(isMedia)
  const content = textContent(result.parts, plain && acceptsPartArrays(codec), PART_SEPARATOR, codec)
  if (typeof content !== 'string') return content
  const text = resultText(result, content)
  const marks = cacheFields(result.cache, codec)
  return Object.keys(marks).length === 0 ? text : [{ type: 'text', text, ...marks }]
}

/** The parts that stand for a result without its call; none for an empty one. */
export function orphanText(result: Result): Frozen<Part>[] {
  const text = result.parts.map((part) => (part.t === 'text' ? part.text : '')).join(PART_SEPARATOR) || jsonText(result)
  const media = result.parts.filter(isMedia)
  return text === '' ? media : [{ t: 'text', text: `Tool result: ${text}` }, ...media]
}

function resultText(result: Result, content: string): string {
  const lines = [content === '' ? jsonText(result) : content, ...result.parts.filter(isMedia).map(placeholder)]
  const text = lines.filter((line) => line !== '').join(PART_SEPARATOR)
  if (text === '') return result.isError ? 'Error: (no output)' : '(no output)'
  return result.isError && !/^\s*error/i.test(text) ? `Error: ${text}` : text
}

function placeholder(part: Frozen<Part>): string {
  return `(${part.t} attached in the next message)`
}

/** A generate-content response object without parts: `{output: x}` means x. */
function jsonText(result: Result): string {
  const { json } = result
  if (json === undefined || json === null) return ''
  const value =
    isObject(json) && Object.keys(json).length === 1 ? ((json.output ?? json.result ?? json.error ?? json) as Frozen<Json>) : json
  return typeof value === 'string' ? value : JSON.stringify(value)
}
