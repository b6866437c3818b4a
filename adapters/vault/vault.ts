// Protects stored secrets with a root key and a data key per organization. The keys are random and wrapped in `vault_keys` under the
// master key. To rotate, they are wrapped again: sealed and derived values stay the same.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { systemClock } from '../../core/timing/clock.ts'
import type { Database, Db } from '../../core/types/ports/db.ts'
import type { Clock, SealedAt, Vault } from '../../core/types/ports/ports.ts'
import { decrypt, encrypt } from './aes-gcm.ts'
import { changeKeys, createKeyTable, hasKeyTable, ROOT, storedKey, storeKey } from './key-table.ts'
import { deriveKey, KEY_BYTES, type KeyEncryptionKey, keyEncryptionKey, unwrapKey, type WrappedKey, wrapKey } from './key-wrap.ts'
import type { MasterKey } from './master-key.ts'

export interface VaultOptions {
  masterKey: MasterKey
  db: Database
  /** False: throws when the database has no vault yet. Default true. */
  create?: boolean
  clock?: Clock
}

export interface OpenVault extends Vault {
  /** Creates the organization's data key. Otherwise the first `seal` does, and that one must not be inside a `db.tx`. */
  prepare(orgId: number | null): Promise<void>
}

interface DataKey {
  /** Fingerprint of the key; it is part of every sealed value. */
  readonly id: string
  readonly key: KeyObject
}

const VERSION = 'v1'

/**
 * Call it before the migrations: with a wrong master key the database stays unchanged.
 * @throws Error naming the variable: the key is missing, invalid, or not the key of this database.
 */
export async function openVault({ masterKey, db, create = true, clock = systemClock }: VaultOptions): Promise<OpenVault> {
  const ring = new KeyRing(masterKey, db, clock)
  const root = await ring.open(create)
  const subkeys = new Map<string, { bytes: Buffer; key: KeyObject }>()
  const dataKeys = new Map<string, Promise<DataKey>>()

  const subkey = (purpose: string): { bytes: Buffer; key: KeyObject } => {
    let found = subkeys.get(purpose)
    if (found === undefined) {
      const bytes = deriveKey(root, `subkey:${purpose}`)
      found = { bytes, key: createSecretKey(bytes) }
      subkeys.set(purpose, found)
    }
    return found
  }
  const dataKey = (orgId: number | null): Promise<DataKey> => {
    const scope = `org:${orgId ?? 'none'}`
    let found = dataKeys.get(scope)
    if (found === undefined) {
      found = ring.key(scope).then((bytes) => ({
        id: deriveKey(bytes, 'key-id-v1').toString('base64url', 0, 9),
        key: createSecretKey(bytes),
      }))
      found.catch(() => dataKeys.delete(scope))
      dataKeys.set(scope, found)
    }
    return found
  }
  await dataKey(null)

  return {
    async seal(plain, at) {
      const key = await dataKey(at.orgId)
      const place = placeOf(at, key.id)
      return `${VERSION}.${key.id}.${encrypt(cellKey(key, place), plain, place)}`
    },
    async open(sealed, at) {
      const [version, id, ...text] = sealed.split('.')
      const key = await dataKey(at.orgId)
      const place = placeOf(at, key.id)
      const plain = version === VERSION && id === key.id ? decrypt(cellKey(key, place), text.join('.'), place) : null
      if (plain === null)
        throw new Error(
          `The sealed value in ${at.table}.${at.column} of ${at.id} cannot be opened: it was altered, moved here from another place, or sealed under another key.`,
        )
      return plain.toString('utf8')
    },
    mac: (purpose, data) => createHmac('sha256', subkey(purpose).key).update(data).digest('hex'),
    subkey: (purpose) => new Uint8Array(subkey(purpose).bytes),
    async prepare(orgId) {
      await dataKey(orgId)
    },
  }
}

/** Unambiguous, and the same for an id that a driver returns as text. */
function placeOf({ table, id, column, orgId }: SealedAt, keyId: string): string {
  return JSON.stringify([VERSION, table, String(id), column, orgId, keyId])
}

/** Returns a key for each place: the 2^32 values that random nonces allow per key then limit one cell instead of an organization. */
function cellKey({ key }: DataKey, place: string): Buffer {
  return createHmac('sha256', key).update(place).digest()
}

/** The wrapped keys with the key-encryption key that opens them. A rotation may replace it in a running process. */
class KeyRing {
  readonly #master: MasterKey
  readonly #db: Database
  readonly #clock: Clock
  #kek: KeyEncryptionKey | null = null

  constructor(master: MasterKey, db: Database, clock: Clock) {
    this.#master = master
    this.#db = db
    this.#clock = clock
  }

  /** Returns the root key. */
  async open(create: boolean): Promise<Buffer> {
    let row = (await hasKeyTable(this.#db)) ? await storedKey(this.#db, ROOT) : undefined
    if (row === undefined) {
      if (!create) throw new Error('The database has no vault yet: start the gateway once to make it.')
      const keys = await this.#master.read()
      const first = keys[0] ?? (await this.#master.create?.())
      if (first === undefined) throw this.#missing()
      this.#kek = keyEncryptionKey(first)
      row = await this.#make(ROOT)
    }
    const [master, kek] = await this.#find(row.kek_id)
    this.#kek = kek
    const root = unwrapKey(kek, row)
    await this.#master.adopt(master, this.#db)
    return root
  }

  /** Returns the key of a scope; creates it on first use. */
  async key(scope: string): Promise<Buffer> {
    const row = (await storedKey(this.#db, scope)) ?? (await this.#make(scope))
    return unwrapKey(await this.#fitting(row.kek_id), row)
  }

  /** The first writer wins, in this replica or another one: all use the key that is then in the table. */
  #make(scope: string): Promise<WrappedKey> {
    return changeKeys(this.#db, async (tx) => {
      if (scope === ROOT) await createKeyTable(tx)
      const kek = await this.#currentKek(tx)
      await storeKey(tx, wrapKey(kek, scope, randomBytes(KEY_BYTES)), this.#clock.now())
      return (await storedKey(tx, scope)) as WrappedKey
    })
  }

  async #currentKek(tx: Db): Promise<KeyEncryptionKey> {
    const root = await storedKey(tx, ROOT)
    return root === undefined ? (this.#kek as KeyEncryptionKey) : this.#fitting(root.kek_id)
  }

  async #fitting(id: string): Promise<KeyEncryptionKey> {
    if (this.#kek?.id !== id) this.#kek = (await this.#find(id))[1]
    return this.#kek
  }

  async #find(id: string): Promise<[master: Uint8Array, KeyEncryptionKey]> {
    const masters = await this.#master.read()
    if (masters.length === 0) throw this.#missing()
    const keks = masters.map(keyEncryptionKey)
    const found = keks.findIndex((kek) => kek.id === id)
    if (found >= 0) return [masters[found] as Uint8Array, keks[found] as KeyEncryptionKey]
    throw new Error(
      `${this.#master.variable} is not the master key this database was sealed with: it wants the key ${id}, this is ${keks[0]?.id}. ` +
        'Restore the former key; nothing was changed.',
    )
  }

  #missing(): Error {
    return new Error(
      `${this.#master.variable}: the master key ${this.#master.path ?? ''} is missing. Restore it from a backup; for a new gateway make one with: openssl rand -base64 32`,
    )
  }
}
