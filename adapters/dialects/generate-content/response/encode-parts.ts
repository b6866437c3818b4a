// Encodes canonical parts as wire parts of a user or model turn. Thoughts are sent only with a signature of this model family; other
// vendors' secrets and server items are dropped.
import { RawJson } from '../../../../core/json/raw-json.ts'
import type { Frozen, JsonObject, Part, Signature, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { isObject } from '../fields.ts'
import { isMedia, mediaPart } from '../request/encode-media.ts'
import { declareName, flatName } from '../tool-names.ts'

/** A wire part. Its tool arguments are RawJson, so use `stringify`. */
export type WirePart = Record<string, unknown>

/** Google's documented value for histories whose signatures are lost. */
export const SENTINEL = 'skip_thought_signature_validator'

/** Encodes every part except tool results; [] for a part that cannot be sent or has no content. */
export function userParts(part: Frozen<Part>, field: string, codec: CodecContext): WirePart[] {
  const ext = part.ext?.generate_content as JsonObject | undefined
  if (isMedia(part)) {
    const meta = part.t === 'video' && part.meta !== undefined ? { videoMetadata: part.meta } : {}
    return [{ ...ext, ...mediaPart(part, field, codec), ...meta }]
  }
  switch (part.t) {
    case 'text': {
      const signature = fitting(part.signature, codec)
      if (part.text === '' && signature === undefined) return []
      return [{ ...ext, text: part.text, ...(signature === undefined ? {} : { thoughtSignature: signature }) }]
    }
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'document': {
      const lead = [part.title ?? part.filename, part.context].filter((line) => line !== undefined && line !== '').join('\n')
      const inner = 'parts' in part.src ? part.src.parts.flatMap((member) => userParts(member, field, codec)) : textPart(part)
      return lead === '' || inner.length === 0 ? inner : [{ text: lead }, ...inner]
    }
    case 'server_tool':
    case 'opaque':
      return part.dialect === 'generate_content' && isObject(part.raw) ? [part.raw] : []
    default:
      return []
  }
}

/** Encodes a model turn. `validated`: this model checks signatures, so a first call without one gets the sentinel. */
export function modelParts(parts: readonly Frozen<Part>[], field: string, validated: boolean, codec: CodecContext): WirePart[] {
  const out: WirePart[] = []
  let isFirstCall = true
  // A signature that another dialect's reasoning block carried belongs to the next call.
  let carried: string | undefined
  for (const part of parts) {
    if (part.t === 'reasoning') {
      const signature = fitting(part.signature, codec)
      if (signature === undefined) continue
      if (part.text === '') carried = signature
      else out.push({ text: part.text, thought: true, thoughtSignature: signature })
    } else if (part.t === 'tool_call') {
      const signature = fitting(part.signature, codec) ?? carried ?? (isFirstCall && validated ? SENTINEL : undefined)
      if (signature === carried) carried = undefined
      out.push({
        ...(part.ext?.generate_content as JsonObject | undefined),
        functionCall: functionCall(part, codec),
        ...(signature === undefined ? {} : { thoughtSignature: signature }),
      })
      isFirstCall = false
    } else if (part.t === 'audio' && part.src.kind === 'file') {
      // Another model said it earlier: only the transcript is sent.
      if (part.transcript) out.push({ text: part.transcript })
    } else out.push(...userParts(part, field, codec))
  }
  if (carried !== undefined) out.push({ text: '', thoughtSignature: carried })
  return out
}

/** Returns true when call ids are sent: the target is known to accept them, and the provider does not refuse them. */
export function sendsCallIds(codec: CodecContext): boolean {
  return codec.caps.functionCallIds === true && !codec.quirks.noFunctionIds
}

function functionCall(part: Frozen<ToolCallPart>, codec: CodecContext): WirePart {
  return {
    ...(sendsCallIds(codec) ? { id: part.id } : {}),
    name: declareName(flatName(part.name, part.namespace), codec),
    args: callArgs(part, codec),
  }
}

function callArgs(part: Frozen<ToolCallPart>, codec: CodecContext): unknown {
  if (part.kind === 'custom') return { input: part.args }
  const text = part.args.trim()
  if (text === '' || text === 'null') return {}
  try {
    if (isObject(JSON.parse(text))) return new RawJson(text)
  } catch {
    // Arguments that are not an object are wrapped below.
  }
  codec.warn('tool_args_wrapped')
  return { _raw: part.args }
}

function fitting(signature: Frozen<Signature> | undefined, codec: CodecContext): string | undefined {
  if (signature?.dialect !== 'generate_content') return undefined
  return signature.modelFamily === '' || signature.modelFamily === codec.caps.family ? signature.value : undefined
}

function textPart(part: Extract<Frozen<Part>, { t: 'document' }>): WirePart[] {
  return 'text' in part.src && part.src.text !== '' ? [{ text: part.src.text }] : []
}
