// Carrying one vendor's reasoning secret through a client that speaks another dialect:
// one envelope `gw1.<dialect>.<family>.<base64url>`, put wherever that dialect replays opaque text.
import { base64Decode, base64Encode } from '../text/bytes.ts'
import type { Dialect, Frozen, Part, Signature } from '../types/canonical.ts'

const DIALECTS: readonly string[] = ['chat', 'messages', 'responses', 'generate_content']

/** A foreign signature as opaque text. `base64` wraps the whole envelope once more (generate-content accepts only base64). */
export function wrapSignature(signature: Signature, form: 'plain' | 'base64' = 'plain'): string {
  const value = base64Encode(signature.value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  const text = `gw1.${signature.dialect}.${encodeURIComponent(signature.modelFamily).replaceAll('.', '%2E')}.${value}`
  return form === 'plain' ? text : base64Encode(text)
}

/** Reads an envelope in either form; null when the text is not ours (then it belongs to the caller's own dialect). */
export function unwrapSignature(text: string): Signature | null {
  const plain = text.startsWith('gw1.') ? text : text.startsWith('Z3cx') ? base64Decode(text) : null
  if (!plain?.startsWith('gw1.')) return null
  const [, dialect, family, value] = plain.split('.')
  if (dialect === undefined || family === undefined || value === undefined || !DIALECTS.includes(dialect)) return null
  const decoded = value === '' ? '' : base64Decode(value)
  if (decoded === null) return null
  try {
    return { dialect: dialect as Dialect, modelFamily: decodeURIComponent(family), value: decoded }
  } catch {
    return null
  }
}

/** True for a text that begins as an envelope, readable or not. No vendor's own secret does. */
export function isEnvelope(text: string): boolean {
  return text.startsWith('gw1.') || text.startsWith('Z3cxL')
}

/** Our envelope around no secret: clients keep a thought that is signed, and many drop one that is not. */
export const UNSIGNED = 'gw1.chat..'

/** True when a thought brings the secret that it came with. */
export function bringsSecret(part: Frozen<Part>): boolean {
  return part.t === 'reasoning' && (part.signature !== undefined || part.encrypted !== undefined || part.redacted !== undefined)
}

/** True when a signature may be sent to this upstream. */
export function signatureFits(signature: Signature | undefined, dialect: Dialect, family: string): signature is Signature {
  return signature !== undefined && signature.dialect === dialect && signature.modelFamily === family
}
