// Encrypts with AES-256-GCM and a random 96-bit nonce, as text: `<nonce>.<ciphertext and tag>`, base64url.
import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto'
import { randomBytes } from '../../core/ids/ids.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `bound` is not stored in the text; decryption needs the same value. */
export function encrypt(key: KeyObject | Uint8Array, plain: string | Uint8Array, bound: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(bound))
  const sealed = Buffer.concat([cipher.update(Buffer.from(plain as Uint8Array)), cipher.final(), cipher.getAuthTag()])
  return `${Buffer.from(nonce).toString('base64url')}.${sealed.toString('base64url')}`
}

/** Returns null when any bit of the text was altered, or when key or `bound` differ from those of the encryption. */
export function decrypt(key: KeyObject | Uint8Array, text: string, bound: string): Buffer | null {
  const [nonce, sealed, ...rest] = text.split('.').map(canonical)
  if (!nonce || !sealed || rest.length > 0 || nonce.length !== NONCE_BYTES || sealed.length < TAG_BYTES) return null
  const end = sealed.length - TAG_BYTES
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(bound))
    .setAuthTag(sealed.subarray(end))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(0, end)), decipher.final()])
  } catch {
    return null
  }
}

/** Node decodes base64 leniently; here one value has one spelling. */
function canonical(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : null
}
