// Ids: time-ordered request ids and random base-62 ones.
import { v7 } from 'uuid'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random bytes are drawn in blocks: one call per id costs more than the id. */
const pool = new Uint8Array(4096)
let drawn = pool.length

function random16(): Uint8Array {
  if (drawn + 16 > pool.length) {
    crypto.getRandomValues(pool)
    drawn = 0
  }
  drawn += 16
  return pool.subarray(drawn - 16, drawn)
}

/** `req_<uuidv7>`. */
export function requestId(): string {
  return `req_${v7({ random: random16() })}`
}

/** Prefix and `length` base-62 characters from the system's random source. */
export function randomId(prefix: string, length = 24): string {
  let out = prefix
  while (out.length < prefix.length + length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      // 248 = 4 * 62: the rest would favour the first characters.
      if (byte < 248 && out.length < prefix.length + length) out += ALPHABET[byte % 62]
    }
  }
  return out
}
