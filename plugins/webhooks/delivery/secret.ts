// Generates and reads signing secrets: `whsec_` and base64 of 24 to 64 bytes.
import type { SealedAt } from '../../../core/types/ports/ports.ts'

const PREFIX = 'whsec_'
const BYTES = 32

export const secretPlace = (id: number, orgId: number | null, column: 'secret' | 'previous_secret' = 'secret'): SealedAt => ({
  table: 'endpoints',
  id,
  column,
  orgId,
})

export function newSecret(): string {
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(BYTES))))
}

export function isSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(text)) return false
  try {
    const { length } = atob(text.slice(PREFIX.length))
    return length >= 24 && length <= 64
  } catch {
    return false
  }
}

/** Returns the signing key: the decoded part after the prefix. */
export function secretBytes(secret: string): Uint8Array {
  return Uint8Array.from(atob(secret.slice(PREFIX.length)), (char) => char.charCodeAt(0))
}

/** Returns the last characters, which distinguish secrets. */
export function hintOf(secret: string): string {
  return `…${secret.replace(/=+$/, '').slice(-4)}`
}
