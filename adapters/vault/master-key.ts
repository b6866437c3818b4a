// Where the master key comes from: a variable, the file another names, or a file of our own in the data directory.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Database } from '../../core/types/db.ts'
import { finishRotation } from './finish-rotation.ts'
import { createKeyFile, type KeyFileRules, nextPath, readKeyFile } from './key-file.ts'
import { parseKey } from './key-text.ts'

export interface MasterKey {
  /** The variable to look at, for messages. */
  readonly variable: string
  /** Path of the key file, null for a key from a variable. */
  readonly path: string | null
  /**
   * The key, then the next one of a rotation that did not finish. Empty: no file yet.
   * @throws Error naming variable and fix: permissions, length, a link elsewhere.
   */
  read(): Promise<readonly Uint8Array[]>
  /** The first key of a new data directory. Processes that race get the same. Null: the operator has to make it. */
  readonly create: (() => Promise<Uint8Array>) | null
  /** Called with the key that fits the database: when it is the next one, its rotation is finished. */
  adopt(key: Uint8Array, db: Database): Promise<void>
}

export interface MasterKeyOptions {
  /** GATEWAY_MASTER_KEY */
  key: string | null
  /** GATEWAY_MASTER_KEY_PATH */
  path: string | null
  /** GATEWAY_DATA_DIR: its `master.key` counts when neither is set, and is made on first use. */
  dataDir: string | null
  profile: 'local' | 'cloud'
  /** The database ends with the process, and a key made for it may too. */
  ephemeral?: boolean
}

/** @throws Error naming the variable: both are set, a key is no key, or the cloud profile has none. */
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

/** A key that is at hand. */
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
