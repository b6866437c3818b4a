// Carries reasoning secrets in `encrypted_content`: this dialect's own as they are, others in the gw1 envelope. A reasoning item also
// carries two kinds without a member of their own: redacted thinking, and a tool call's signature (in an item without summary directly
// before the call).
import { unwrapSignature, wrapSignature } from '../../../core/models/signature.ts'
import type { Frozen, JsonObject, Part, ReasoningPart, Signature } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../shared/fields.ts'

/** The prefix of the value that marks redacted thinking. */
const REDACTED = 'redacted:'

/** Returns `encrypted_content` for the caller. */
export function secretText(signature: Frozen<Signature>): string {
  return signature.dialect === 'responses' ? signature.value : wrapSignature(signature)
}

/** Returns the secret of a reasoning part for the caller; undefined when it has none. `family`: the upstream's. */
export function partSecret(part: Frozen<ReasoningPart>, family: string): string | undefined {
  const signature = part.signature ?? part.encrypted
  if (part.redacted !== undefined) {
    return wrapSignature({
      dialect: 'messages',
      modelFamily: signature?.modelFamily ?? family,
      value: `${REDACTED}${part.redacted}`,
    })
  }
  return signature === undefined || signature.value === '' ? undefined : secretText(signature)
}

/** Decodes a reasoning item of a request or an answer; null when nothing in it is usable. `family` is '' for callers' items. */
export function decodeReasoning(item: JsonObject, family: string): (ReasoningPart & Part) | null {
  const summary = texts(item.summary)
  const text = texts(item.content).join('')
  const secret = loose(item.encrypted_content)
  if (summary.length === 0 && text === '' && secret === '') return null
  const part: ReasoningPart = { t: 'reasoning', text }
  if (summary.length > 0) part.summary = summary
  if (typeof item.id === 'string' && item.id !== '') part.itemId = item.id
  if (secret === '') return part
  const signature = unwrapSignature(secret) ?? { dialect: 'responses', modelFamily: family, value: secret }
  if (signature.dialect === 'messages' && signature.value.startsWith(REDACTED)) {
    part.redacted = signature.value.slice(REDACTED.length)
    part.encrypted = { ...signature, value: part.redacted }
  } else part.signature = signature
  return part
}

/** Returns whether an item only carries the signature of the next tool call. */
export function carriesCallSignature(part: Frozen<ReasoningPart>): boolean {
  return part.signature?.dialect === 'generate_content' && part.text === '' && part.summary === undefined
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) return []
  return value.map((entry) => (isObject(entry) ? loose(entry.text) : '')).filter((text) => text !== '')
}
