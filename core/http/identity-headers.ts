// Reads session id and end-user id of a request, from headers only: ids derived from content would tie unrelated requests together.
import type { HeaderBag } from '../types/ports/ports.ts'

export const SESSION_HEADERS: readonly string[] = [
  'x-gateway-session-id',
  'x-session-id',
  'session_id',
  'session-id',
  'helicone-session-id',
]
export const USER_HEADERS: readonly string[] = ['x-gateway-user-id', 'helicone-user-id']

const MAX_LENGTH = 256

/** Returns the first header with 1 to 256 characters, trimmed. */
export function identityIn(headers: HeaderBag, names: readonly string[]): string | null {
  for (const name of names) {
    const value = headers.get(name)?.trim()
    if (value && value.length <= MAX_LENGTH) return value
  }
  return null
}
