// Encodes canonical answer parts for Gemini callers. Google's own secrets are sent plain, others in our envelope, as base64 because the
// field requires it.
import { RawJson } from '../../../../core/json/raw-json.ts'
import { wrapSignature } from '../../../../core/models/signature.ts'
import type { Frozen, Json, JsonObject, Part, Signature, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import { isObject } from '../fields.ts'
import { redactedSecret } from '../redacted-thinking.ts'
import type { ThoughtCarrier } from '../thought-carrier.ts'

/** A wire part. Its arguments are RawJson, so use `stringify`. */
export type WirePart = Record<string, unknown>

/** Returns null for a part that this dialect cannot express. `functionCallPart` encodes tool calls. */
export function wirePart(part: Frozen<Part>): WirePart | null {
  switch (part.t) {
    case 'text':
      return part.text === '' && part.signature === undefined ? null : { text: part.text, ...signed(part.signature) }
    case 'refusal':
      return part.text === '' ? null : { text: part.text }
    case 'reasoning': {
      const text = part.text || (part.summary ?? []).join('\n\n')
      const secret = reasoningSecret(part)
      return text === '' && secret === undefined ? null : { text, thought: true, ...signed(secret) }
    }
    case 'image':
    case 'audio':
    case 'video':
      return mediaPart(part)
    case 'document':
      return 'kind' in part.src ? mediaPart(part) : null
    case 'server_tool':
    case 'opaque':
      return part.dialect === 'generate_content' && isObject(part.raw) ? part.raw : null
    default:
      return null
  }
}

/**
 * Returns null when the arguments are not a JSON object, because the call cannot be represented. A call without its own signature carries
 * the thoughts before it.
 */
export function functionCallPart(call: Frozen<ToolCallPart>, thoughts: ThoughtCarrier): WirePart | null {
  const args = callArgs(call)
  if (args === null) return null
  const name = call.namespace ? `${call.namespace}__${call.name}` : call.name
  const secret = call.signature === undefined ? thoughts.take() : signatureText(call.signature)
  return { functionCall: { id: call.id, name, args }, ...(secret === undefined ? {} : { thoughtSignature: secret }) }
}

/** Returns the one secret that a client must send back with a reasoning part. */
export function reasoningSecret(part: Extract<Frozen<Part>, { t: 'reasoning' }>): Frozen<Signature> | undefined {
  if (part.redacted !== undefined) return redactedSecret(part.redacted, part.encrypted?.modelFamily)
  return part.signature ?? part.encrypted
}

export function signed(signature: Frozen<Signature> | undefined): { thoughtSignature?: string } {
  return signature === undefined ? {} : { thoughtSignature: signatureText(signature) }
}

export function signatureText(signature: Frozen<Signature>): string {
  return signature.dialect === 'generate_content' ? signature.value : wrapSignature(signature, 'base64')
}

function callArgs(call: Frozen<ToolCallPart>): RawJson | JsonObject | null {
  if (call.kind === 'custom') return { input: call.args }
  const text = call.args.trim()
  if (text === '' || text === 'null') return {}
  try {
    return isObject(JSON.parse(text) as Json) ? new RawJson(text) : null
  } catch {
    return null
  }
}

function mediaPart(part: Extract<Frozen<Part>, { t: 'image' | 'audio' | 'video' | 'document' }>): WirePart | null {
  if (!('kind' in part.src)) return null
  const ext = part.ext?.generate_content as JsonObject | undefined
  const src = part.src
  if (src.kind === 'base64') return { ...ext, inlineData: { mimeType: src.mime, data: src.data } }
  if (src.kind === 'file') return null
  const uri = src.kind === 'url' ? src.url : src.uri
  return { ...ext, fileData: { ...(src.mime === undefined ? {} : { mimeType: src.mime }), fileUri: uri } }
}
