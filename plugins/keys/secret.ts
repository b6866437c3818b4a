// Generates the secret of a client key: `gw_`, 43 base-62 characters (256 bits), and a checksum that distinguishes a typing error from a
// revoked key.
import { randomId } from '../../core/ids/ids.ts'

export const KEY_PREFIX = 'gw_'
const RANDOM = 43
const CHECKSUM = 4
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export function newSecret(): string {
  const body = randomId(KEY_PREFIX, RANDOM)
  return body + checksum(body)
}

/** Returns whether the checksum of a key in our form is correct. */
export function wellFormed(secret: string): boolean {
  const body = secret.slice(0, KEY_PREFIX.length + RANDOM)
  return secret.length === body.length + CHECKSUM && secret.slice(body.length) === checksum(body)
}

/** FNV-1a over the characters. It detects typing errors; it is no protection against attackers. */
function checksum(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  let out = ''
  for (let i = 0; i < CHECKSUM; i++) {
    out += ALPHABET[hash % 62]
    hash = Math.floor(hash / 62)
  }
  return out
}
