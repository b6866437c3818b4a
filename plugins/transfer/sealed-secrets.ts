// Seals the secrets of an export under a passphrase: PBKDF2-SHA-256 and AES-256-GCM.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { decodeUtf8, encodeUtf8 } from '../../core/text/bytes.ts'

const ITERATIONS = 600_000
const base64 = z
  .string()
  .max(4_000_000)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')

export const sealedSecrets = z.strictObject({
  algorithm: z.literal('PBKDF2-SHA-256 AES-256-GCM'),
  iterations: z.int().min(100_000).max(5_000_000),
  salt: base64,
  iv: base64,
  data: base64,
})
export type SealedSecrets = z.output<typeof sealedSecrets>

/** Kind → name of a row → member → value. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>
const secrets = z.record(z.string(), z.record(z.string(), z.record(z.string(), z.string())))

export async function seal(plain: Secrets, passphrase: string): Promise<SealedSecrets> {
  const salt = crypto.getRandomValues(new Uint8Array(16))
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const key = await keyOf(passphrase, salt, ITERATIONS)
  const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, bytes(encodeUtf8(JSON.stringify(plain))))
  return {
    algorithm: 'PBKDF2-SHA-256 AES-256-GCM',
    iterations: ITERATIONS,
    salt: text(salt),
    iv: text(iv),
    data: text(new Uint8Array(data)),
  }
}

/** @throws GatewayError 400 for another passphrase, or an altered document. */
export async function open({ iterations, salt, iv, data }: SealedSecrets, passphrase: string): Promise<Secrets> {
  const wrong = GatewayError.invalid(
    'passphrase',
    '`passphrase` does not open the secrets of this document: it is another one, or the document was changed.',
  )
  try {
    const key = await keyOf(passphrase, fromText(salt), iterations)
    const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromText(iv) }, key, fromText(data))
    return secrets.parse(JSON.parse(decodeUtf8(new Uint8Array(plain))))
  } catch {
    throw wrong
  }
}

async function keyOf(passphrase: string, salt: Uint8Array<ArrayBuffer>, iterations: number): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', bytes(encodeUtf8(passphrase)), 'PBKDF2', false, ['deriveKey'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations }
  return crypto.subtle.deriveKey(parameters, material, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

function bytes(given: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(given)
}

function text(given: Uint8Array): string {
  let binary = ''
  for (const byte of given) binary += String.fromCharCode(byte)
  return btoa(binary)
}

function fromText(given: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(given), (character) => character.charCodeAt(0))
}
