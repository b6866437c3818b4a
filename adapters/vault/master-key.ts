// Reads the master key from a variable, from the file that another variable names, or from a file in the data directory.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Database } from '../../core/types/ports/db.ts'
import { finishRotation } from './finish-rotation.ts'
import { createKeyFile, type KeyFileRules, nextPath, readKeyFile } from './key-file.ts'
import { parseKey } from './key-text.ts'

export interface MasterKey {
  /** The variable to name in messages. */
  readonly variable: string
  /** Path of the key file, null for a key from a variable. */
  readonly path: string | null
  /**
   * Returns the key, then the next one of an unfinished rotation. Empty: there is no file yet.
   * @throws Error naming variable and fix: permissions, length, a link to another directory.
   */
  read(): Promise<readonly Uint8Array[]>
  /** Creates the first key of a new data directory; concurrent processes get the same one. null: the operator must create it. */
  readonly create: (() => Promise<Uint8Array>) | null
  /** Called with the key that opens the database: when it is the next one, its rotation is finished. */
  adopt(key: Uint8Array, db: Database): Promise<void>
}

export interface MasterKeyOptions {
  /** GATEWAY_MASTER_KEY */
  key: string | null
  /** GATEWAY_MASTER_KEY_PATH */
  path: string | null
  /** GATEWAY_DATA_DIR: its `master.key` is used when neither is set, and created on first use. */
  dataDir: string | null
  profile: 'local' | 'cloud'
  /** True: the database ends with the process, and so may a key that was created for it. */
  ephemeral?: boolean
}

/** @throws Error naming the variable: both are set, a value is not a key, or the cloud profile has no key. */
export function loadMasterKey({ key, path, dataDir, profile, ephemeral = false }: MasterKeyOptions): MasterKey {
  if (key !== null && path !== null)
    throw new Error('GATEWAY_MASTER_KEY and GATEWAY_MASTER_KEY_PATH are both set: unset the one that does not count.')
  if (key !== null) return givenMasterKey(parseKey(key, 'GATEWAY_MASTER_KEY'))
  if (path !== null) return masterKeyFile(path, { variable: 'GATEWAY_MASTER_KEY_PATH', privateDirectory: false }, false)
  if (ephemeral) return givenMasterKey(randomBytes(32))
  if (profile === 'cloud')
    throw new Error(
      'The cloud profile needs GATEWAY_MASTER_KEY or GATEWAY_MASTER_KEY_PATH: replicas share one master key, and none may make its own. ' +
        'Make it with: openssl rand -base64 32',
    )
  if (dataDir === null)
    throw new Error(
      'The database needs a master key that outlives it: set GATEWAY_MASTER_KEY, GATEWAY_MASTER_KEY_PATH or GATEWAY_DATA_DIR.',
    )
  return masterKeyFile(join(dataDir, 'master.key'), { variable: 'GATEWAY_DATA_DIR', privateDirectory: true }, true)
}

/** Returns a MasterKey for a given key. */
export function givenMasterKey(key: Uint8Array, variable = 'GATEWAY_MASTER_KEY'): MasterKey {
  return { variable, path: null, read: async () => [key], create: null, async adopt() {} }
}

export function masterKeyFile(path: string, rules: KeyFileRules, mayCreate: boolean): MasterKey {
  return {
    variable: rules.variable,
    path,
    async read() {
      const keys = [await readKeyFile(path, rules), await readKeyFile(nextPath(path), rules)]
      return keys.filter((key) => key !== null)
    },
    create: mayCreate ? () => createKeyFile(path, randomBytes(32), rules) : null,
    async adopt(key, db) {
      if ((await readKeyFile(nextPath(path), rules))?.equals(key)) await finishRotation(db, path, rules)
    },
  }
}
