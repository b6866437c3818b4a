// Carries one vendor's reasoning secret through a client that speaks another dialect. The envelope is
// `gw1.<dialect>.<family>.<base64url>`, placed where that dialect replays opaque text.
import { base64Decode, base64Encode } from '../text/bytes.ts'
import type { Dialect, Frozen, Part, Signature } from '../types/request/canonical.ts'

const DIALECTS: readonly string[] = ['chat', 'messages', 'responses', 'generate_content']

/** Returns a foreign signature as opaque text. `base64` encodes the whole envelope again (generate-content accepts only base64). */
export function wrapSignature(signature: Signature, form: 'plain' | 'base64' = 'plain'): string {
  const value = base64Encode(signature.value).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
  const text = `gw1.${signature.dialect}.${encodeURIComponent(signature.modelFamily).replaceAll('.', '%2E')}.${value}`
  return form === 'plain' ? text : base64Encode(text)
}

/** Reads an envelope in either form; null when the text is not an envelope and so belongs to the caller's own dialect. */
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

/** Returns whether a text starts like an envelope, valid or not. No vendor's own secret does. */
export function isEnvelope(text: string): boolean {
  return text.startsWith('gw1.') || text.startsWith('Z3cxL')
}

/** An envelope without a secret. Clients keep signed thoughts, and many drop unsigned ones. */
export const UNSIGNED = 'gw1.chat..'

/** Returns whether a thought carries its original secret. */
export function bringsSecret(part: Frozen<Part>): boolean {
  return part.t === 'reasoning' && (part.signature !== undefined || part.encrypted !== undefined || part.redacted !== undefined)
}

/** Returns whether a signature may be sent to this upstream. */
export function signatureFits(signature: Signature | undefined, dialect: Dialect, family: string): signature is Signature {
  return signature !== undefined && signature.dialect === dialect && signature.modelFamily === family
}
