// Carries redacted thinking of a messages upstream in a thought part: its data in an envelope, and kind and model family in the place of
// the family.
import type { Frozen, Part, Signature } from '../../../core/types/request/canonical.ts'

const REDACTED = 'redacted'

export function redactedSecret(data: string, family = ''): Signature {
  return { dialect: 'messages', modelFamily: family === '' ? REDACTED : `${REDACTED}:${family}`, value: data }
}

/** Returns null for any other secret. */
export function redactedPart({ dialect, modelFamily, value }: Frozen<Signature>): Part | null {
  const isRedacted = modelFamily === REDACTED || modelFamily.startsWith(`${REDACTED}:`)
  if (dialect !== 'messages' || !isRedacted) return null
  const encrypted = { dialect, modelFamily: modelFamily.slice(REDACTED.length + 1), value }
  return { t: 'reasoning', text: '', redacted: value, encrypted }
}
