// Rotates the master key: wraps every key of `vault_keys` again in one transaction, and changes nothing else.
import { randomBytes } from 'node:crypto'
import { sql } from '../../core/db/sql.ts'
import type { Database, Db } from '../../core/types/ports/db.ts'
import { finishRotation } from './finish-rotation.ts'
import { createKeyFile, nextPath, readKeyFile } from './key-file.ts'
import { changeKeys, storedKeys } from './key-table.ts'
import { keyEncryptionKey, unwrapKey, wrapKey } from './key-wrap.ts'

export interface RotateOptions {
  db: Database
  from: Uint8Array
  to: Uint8Array
}

export interface RotateFileOptions {
  db: Database
  /** Path of the key file: MasterKey.path. */
  path: string
  /** For messages: MasterKey.variable. */
  variable?: string
}

export interface Rotation {
  /** Number of keys that were wrapped again; 0 when an earlier attempt did it. */
  rewrapped: number
  /** Fingerprint of the key that is valid now. */
  keyId: string
}

/**
 * Running processes continue. Those that read the key from a variable need the new one before they seal for a new organization. Earlier
 * backups still need the former key.
 * @throws Error when the database is sealed under neither key; then nothing was changed.
 */
export function rotateMasterKey({ db, from, to }: RotateOptions): Promise<Rotation> {
  return changeKeys(db, (tx) => rewrap(tx, from, to))
}

/**
 * Rotates a key in a file. If the process is killed, one of the two files still has the valid key. The next boot, or another call,
 * finishes: the new key is on disk before the database needs it, and the former one is removed last.
 * @throws Error as rotateMasterKey, or when a file is missing or refused.
 */
export async function rotateKeyFile({ db, path, variable = 'GATEWAY_MASTER_KEY_PATH' }: RotateFileOptions): Promise<Rotation> {
  const rules = { variable, privateDirectory: false }
  const rotation = await changeKeys(db, async (tx) => {
    const from = await readKeyFile(path, rules)
    if (from === null) throw new Error(`${variable}: ${path} is missing, so there is nothing to rotate from.`)
    return rewrap(tx, from, await createKeyFile(nextPath(path), randomBytes(32), rules))
  })
  await finishRotation(db, path, rules)
  return rotation
}

async function rewrap(tx: Db, from: Uint8Array, to: Uint8Array): Promise<Rotation> {
  const [former, next] = [keyEncryptionKey(from), keyEncryptionKey(to)]
  let rewrapped = 0
  for (const row of await storedKeys(tx)) {
    if (row.kek_id === next.id) continue
    if (row.kek_id !== former.id)
      throw new Error(`The key \`${row.scope}\` is sealed under the master key ${row.kek_id}, not under ${former.id}.`)
    const { kek_id, wrapped } = wrapKey(next, row.scope, unwrapKey(former, row))
    await tx.run(sql`UPDATE vault_keys SET kek_id = ${kek_id}, wrapped = ${wrapped} WHERE scope = ${row.scope}`)
    rewrapped++
  }
  return { rewrapped, keyId: next.id }
}
