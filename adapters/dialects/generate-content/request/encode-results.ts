// Encodes tool results as functionResponse parts: one per call, in call order; the response is always an object.
import { RawJson } from '../../../../core/json/raw-json.ts'
import type { Frozen, JsonObject, Part, ToolCallPart, ToolResultPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject } from '../fields.ts'
import { sendsCallIds, userParts, type WirePart } from '../response/encode-parts.ts'
import { declareName, flatName } from '../tool-names.ts'
import { isMedia, mediaPart } from './encode-media.ts'

/** Returns the user content after a model turn with calls: responses first, then media that they cannot hold. */
export function functionResponses(
  calls: readonly Frozen<ToolCallPart>[],
  results: ReadonlyMap<string, Frozen<ToolResultPart>>,
  field: string,
  codec: CodecContext,
): WirePart[] {
  const responses: WirePart[] = []
  const siblings: WirePart[] = []
  for (const call of calls) {
    const result = results.get(call.id)
    const media = result?.parts.filter(isMedia).map((part) => mediaPart(part, field, codec)) ?? []
    if (result === undefined) codec.warn('missing_tool_result')
    const inside = codec.caps.fnPartsInResults === true
    responses.push({
      functionResponse: {
        ...(sendsCallIds(codec) ? { id: call.id } : {}),
        name: declareName(flatName(call.name, call.namespace), codec),
        response: result === undefined ? { error: 'No result provided' } : responseOf(result),
        ...(inside && media.length > 0 ? { parts: media } : {}),
      },
    })
    if (!inside) siblings.push(...media)
  }
  return [...responses, ...siblings]
}

/** A result whose call is missing from the history becomes text; an empty one is dropped. */
export function orphanResult(result: Frozen<ToolResultPart>, field: string, codec: CodecContext): WirePart[] {
  const text = resultText(result.parts)
  const media = result.parts.filter(isMedia).flatMap((part) => userParts(part, field, codec))
  return text === '' ? media : [{ text: `Tool result: ${text}` }, ...media]
}

function responseOf(result: Frozen<ToolResultPart>): unknown {
  const text = resultText(result.parts)
  // `json` is the caller's own object; it is outdated when a plugin changed the parts.
  if (isObject(result.json) && jsonText(result.json as JsonObject) === text) return result.json
  if (result.isError) return { error: text }
  const shape = text.trimStart()[0]
  if (shape !== '{' && shape !== '[') return { output: text }
  try {
    JSON.parse(text)
  } catch {
    return { output: text }
  }
  return shape === '{' ? new RawJson(text) : { output: new RawJson(text) }
}

function resultText(parts: readonly Frozen<Part>[]): string {
  return parts
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n')
}

function textOf(part: Frozen<Part>): string {
  if (part.t === 'text' || part.t === 'refusal') return part.text
  if (part.t !== 'document' || 'kind' in part.src) return ''
  const body = 'text' in part.src ? part.src.text : resultText(part.src.parts)
  return part.title ? `${part.title}\n${body}` : body
}

/** Returns the text that our own decoder makes of a response object. */
function jsonText(response: JsonObject): string {
  const keys = Object.keys(response)
  if (keys.length === 0) return ''
  const value = keys.length === 1 && (keys[0] === 'output' || keys[0] === 'error') ? response[keys[0]] : response
  return typeof value === 'string' ? value : JSON.stringify(value)
}
