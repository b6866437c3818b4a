// Wraps keys under the key-encryption key, which is derived from the master key and never stored.
import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'
import { decrypt, encrypt } from './aes-gcm.ts'

export interface KeyEncryptionKey {
  /** A fingerprint that identifies the key and reveals nothing about it. */
  readonly id: string
  readonly key: KeyObject
}

/** A row of `vault_keys`. */
export interface WrappedKey {
  scope: string
  kek_id: string
  wrapped: string
}

export const KEY_BYTES = 32

export function deriveKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES))
}

export function keyEncryptionKey(master: Uint8Array): KeyEncryptionKey {
  return {
    id: deriveKey(master, 'kek-id-v1').toString('hex', 0, 8),
    key: createSecretKey(deriveKey(master, 'kek-v1')),
  }
}

export function wrapKey(kek: KeyEncryptionKey, scope: string, plain: Uint8Array): WrappedKey {
  return { scope, kek_id: kek.id, wrapped: encrypt(kek.key, plain, boundTo(scope, kek)) }
}

/** Returns the key. @throws Error when the row was altered, or belongs to another scope. */
export function unwrapKey(kek: KeyEncryptionKey, { scope, wrapped }: WrappedKey): Buffer {
  const plain = decrypt(kek.key, wrapped, boundTo(scope, kek))
  if (plain === null) throw new Error(`The key \`${scope}\` in the table vault_keys is damaged: restore the table from a backup.`)
  return plain
}

function boundTo(scope: string, kek: KeyEncryptionKey): string {
  return JSON.stringify(['vault_keys', scope, kek.id])
}
