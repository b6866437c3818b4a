// Encodes the pieces that whole answers and streams to a chat caller share.
import { wrapSignature } from '../../../../core/models/signature.ts'
import type {
  Annotation,
  Frozen,
  ImagePart,
  Json,
  JsonObject,
  ReasoningPart,
  Signature,
  ToolCallPart,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { dataUrl } from '../../shared/data-url.ts'
import { isObject } from '../read.ts'

const PREFIX = 'chatcmpl-'

/** Separates the thoughts of several parts, which share one field. */
export const THOUGHT_SEPARATOR = '\n\n'

export function thoughtText(part: Frozen<ReasoningPart>): string {
  return part.text || (part.summary ?? []).join(THOUGHT_SEPARATOR)
}

/** Returns the upstream's id when it has the dialect's form, otherwise a fresh one. */
export function answerId(upstream: string, mint: (prefix: string) => string): string {
  return upstream.startsWith(PREFIX) ? upstream : mint(PREFIX)
}

/** Chat supports only web citations. Offsets count from the start of the whole content. */
export function encodeAnnotation(annotation: Frozen<Annotation>, offset: number, length: number): JsonObject | null {
  if (annotation.kind !== 'url' || annotation.url === undefined) return null
  return {
    type: 'url_citation',
    url_citation: {
      start_index: offset + (annotation.start ?? 0),
      end_index: offset + (annotation.end ?? length),
      url: annotation.url,
      title: annotation.title ?? annotation.url,
    },
  }
}

/** Clients send a call's secret back with the history when it is where Google's compatible endpoint puts it. */
export function secretMember(signature: Frozen<Signature> | undefined): JsonObject {
  if (signature === undefined) return {}
  const value = signature.dialect === 'chat' ? signature.value : wrapSignature(signature)
  return { extra_content: { google: { thought_signature: value } } }
}

/** Clients support custom calls only when they declare custom tools; others get a function with one `input`. */
export function isDeclaredCustom(name: string, codec: CodecContext): boolean {
  return codec.request?.tools.some((tool) => tool.t === 'custom' && tool.name === name) ?? false
}

/** A function without arguments gets an empty object, because clients parse the text. */
export function encodeCall(
  call: Frozen<ToolCallPart>,
  signature: Frozen<Signature> | undefined,
  codec: CodecContext,
): JsonObject {
  const { id, name, args } = call
  const custom = call.kind === 'custom'
  if (custom && isDeclaredCustom(name, codec))
    return { id, type: 'custom', custom: { name, input: args }, ...secretMember(signature) }
  const text = custom ? JSON.stringify({ input: args }) : args === '' ? '{}' : args
  return { id, type: 'function', function: { name, arguments: text }, ...secretMember(signature) }
}

/** Encodes a generated image (OpenRouter's convention); null for one without a URL form. */
export function encodeImage(part: Frozen<ImagePart>, index: number): JsonObject | null {
  const { src } = part
  const url =
    src.kind === 'base64' ? dataUrl(src.mime, src.data) : src.kind === 'url' ? src.url : src.kind === 'uri' ? src.uri : null
  return url === null ? null : { type: 'image_url', image_url: { url }, index }
}

/** Returns log probabilities in chat's form; other dialects give the bare list. */
export function encodeLogprobs(logprobs: Frozen<Json> | undefined): Json {
  if (logprobs === undefined || logprobs === null) return null
  if (Array.isArray(logprobs)) return { content: logprobs as Json[], refusal: null }
  return isObject(logprobs) && 'content' in logprobs ? (logprobs as Json) : null
}
