// Makes time-ordered request ids and random base-62 ids.
import { v7 } from 'uuid'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random bytes are drawn in blocks, because one system call per id costs more than the id. */
const pool = new Uint8Array(4096)
let drawn = pool.length

/** Returns bytes of the system's random source, which the next calls overwrite. `count` must not exceed the size of the pool. */
export function randomBytes(count: number): Uint8Array {
  if (drawn + count > pool.length) {
    crypto.getRandomValues(pool)
    drawn = 0
  }
  drawn += count
  return pool.subarray(drawn - count, drawn)
}

const HEX = [...'0123456789abcdef'].map((digit) => digit.charCodeAt(0))
/** The characters of the last request id; each id replaces the digits. */
const idCodes = [...'req_00000000-0000-0000-0000-000000000000'].map((character) => character.charCodeAt(0))
/** Where the digits of each byte stand. */
const DIGITS_AT = [4, 6, 8, 10, 13, 15, 18, 20, 23, 25, 28, 30, 32, 34, 36, 38]
const idBytes = new Uint8Array(16)

/** `req_<uuidv7>`. Its characters are written at once: a sum of pieces would stay a tree that each later use has to copy. */
export function requestId(): string {
  v7({ random: randomBytes(16) }, idBytes)
  for (let i = 0; i < 16; i++) {
    const byte = idBytes[i] as number
    const at = DIGITS_AT[i] as number
    idCodes[at] = HEX[byte >> 4] as number
    idCodes[at + 1] = HEX[byte & 15] as number
  }
  return String.fromCharCode.apply(null, idCodes)
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/

/** Returns the id that a caller gave its request. */
export function givenId(id: string, routed: boolean): string {
  if (routed) throw new Error('The request has been routed: its id stands.')
  if (!UUID.test(id)) throw new TypeError('ctx.identify() takes a UUID in lower case')
  return id
}

/** Returns the prefix and `length` base-62 characters from the system's random source. */
export function randomId(prefix: string, length = 24): string {
  let out = prefix
  while (out.length < prefix.length + length) {
    for (const byte of randomBytes(Math.min(length, pool.length))) {
      // 248 = 4 * 62. Higher bytes are skipped, because they would favour the first characters.
      if (byte < 248 && out.length < prefix.length + length) out += ALPHABET[byte % 62]
    }
  }
  return out
}
