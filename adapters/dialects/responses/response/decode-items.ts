// Decodes output items of an answer. The whole-answer decoder and the stream decoder share it.
import type { Annotation, Json, JsonObject, Part, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { callerName } from '../../shared/names.ts'
import { decodeReasoning } from '../secrets.ts'
import { decodeAnnotation } from './annotations.ts'
import { messageMark } from './output-items.ts'

const OPAQUE: ReadonlySet<string> = new Set(['compaction', 'compaction_summary'])

export function decodeItem(item: JsonObject, codec: CodecContext): Part[] {
  switch (item.type) {
    case 'message':
      return messageParts(item)
    case 'reasoning': {
      const part = decodeReasoning(item, codec.caps.family)
      return part === null ? [] : [part]
    }
    case 'function_call':
    case 'custom_tool_call':
      return [callPart(item, codec)]
    default:
      return [wholePart(item, codec)]
  }
}

/** Returns the call of an item, with its arguments so far. */
export function callPart(item: JsonObject, codec: CodecContext): ToolCallPart {
  const custom = item.type === 'custom_tool_call'
  const callId = loose(item.call_id)
  const namespace = loose(item.namespace)
  const itemId = loose(item.id)
  return {
    t: 'tool_call',
    id: callId || codec.id('call_'),
    idMinted: callId === '',
    name: callerName(loose(item.name), codec),
    args: custom ? loose(item.input) : argumentsOf(item.arguments),
    kind: custom ? 'custom' : 'function',
    ...(namespace === '' ? {} : { namespace }),
    ...(itemId === '' ? {} : { itemId }),
    ...(item.caller === undefined || item.caller === null ? {} : { caller: item.caller }),
  }
}

export function argumentsOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
}

/** Decodes an item that only this dialect has. For other dialects a generated picture is an image. */
export function wholePart(item: JsonObject, codec: CodecContext): Part {
  const kind = loose(item.type)
  if (kind === 'image_generation_call' && codec.caller !== 'responses' && typeof item.result === 'string') {
    const format = loose(item.output_format) || 'png'
    return { t: 'image', src: { kind: 'base64', data: item.result, mime: `image/${format}` } }
  }
  if (OPAQUE.has(kind)) return { t: 'opaque', dialect: 'responses', raw: item }
  return { t: 'server_tool', dialect: 'responses', kind, raw: item }
}

export function annotationsOf(value: Json | undefined): Annotation[] {
  if (!Array.isArray(value)) return []
  return value.map(decodeAnnotation).filter((one): one is Annotation => one !== null)
}

function messageParts(item: JsonObject): Part[] {
  const ext = messageMark(loose(item.id), loose(item.phase))
  const parts: Part[] = []
  for (const content of Array.isArray(item.content) ? item.content : []) {
    if (!isObject(content)) continue
    if (content.type === 'refusal') parts.push({ t: 'refusal', text: loose(content.refusal), ext })
    else if (loose(content.text) !== '') {
      const annotations = annotationsOf(content.annotations)
      parts.push({
        t: 'text',
        text: loose(content.text),
        ...(annotations.length === 0 ? {} : { annotations }),
        ext,
      })
    }
  }
  return parts
}
