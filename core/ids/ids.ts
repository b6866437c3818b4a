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

/** `req_<uuidv7>`. */
export function requestId(): string {
  return `req_${v7({ random: randomBytes(16) })}`
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
