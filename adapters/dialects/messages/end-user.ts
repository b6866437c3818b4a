// metadata.user_id: an opaque id, never an address or a phone number (DIALECTS 3.1 "-> messages" 15).
import { createHash } from 'node:crypto'

const MAX_LENGTH = 256
const EMAIL = /^[^\s@]+@[^\s@]+$/
const PHONE = /^\+?\d[\d\s().-]{5,20}\d$/

/** The id itself when it is harmless, else its SHA-256 in hex. */
export function userId(id: string): string {
  const personal = id.length > MAX_LENGTH || EMAIL.test(id) || PHONE.test(id)
  return personal ? createHash('sha256').update(id).digest('hex') : id
}
