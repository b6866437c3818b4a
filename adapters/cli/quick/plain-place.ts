// Opens the database of a place at which there is nothing for a whole gateway to judge: a configuration file that only declares rows, or
// none, no variable beyond those that say where the data is, and a SQLite file of exactly this version.
import { existsSync } from 'node:fs'
import { type Environment, readEnv } from '../../../core/config/env.ts'
import { upToDate } from '../../../core/db/migrate.ts'
import type { Database } from '../../../core/types/ports/db.ts'
import { defaultDataDir } from '../../node/data-dir.ts'
import { findConfig } from '../../node/loading/find-config.ts'
import { openDatabase, sqlitePath } from '../../stores/open-database.ts'
import { loadMasterKey } from '../../vault/master-key.ts'
import { openVault } from '../../vault/vault.ts'
import type { Place } from '../control-plane/control-plane.ts'
import { declaresRows } from './declared-rows.ts'
import { MIGRATIONS } from './migrations.ts'

const WHERE = new Set(['DATA_DIR', 'DATABASE_URL', 'MASTER_KEY', 'MASTER_KEY_PATH'].map((name) => `GATEWAY_${name}`))
/** Names without the prefix that stand for a variable. */
export const OTHER_NAMES = [
  'DATABASE_URL',
  'REDIS_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER_ARG',
]

/** Returns null for any other place. @throws Error for a database or a master key that does not open, as the gateway does. */
export async function plainDatabase(place: Place): Promise<Database | null> {
  const environment = process.env
  if (!isPlain(environment)) return null
  const config = findConfig(place.config ?? null, process.cwd())
  if (config !== null && !(await declaresRows(config, environment))) return null
  const options = { dataDir: defaultDataDir(environment) }
  const env = readEnv({ environment, flags: { DATA_DIR: place['data-dir'] }, options })
  const dataDir = env.get<string>('DATA_DIR')
  const url = env.get<string | null>('DATABASE_URL')
  if (url !== null && !/^(?:sqlite|file):/.test(url)) return null
  const file = sqlitePath(url ?? 'sqlite:gateway.db', dataDir)
  if (file === ':memory:' || !existsSync(file)) return null
  const db = await openDatabase(url, dataDir)
  try {
    if (await upToDate(db, MIGRATIONS)) {
      const [key, path] = [env.get<string | null>('MASTER_KEY'), env.get<string | null>('MASTER_KEY_PATH')]
      await openVault({ masterKey: loadMasterKey({ key, path, dataDir, profile: 'local' }), db, create: false })
      return db
    }
  } catch (error) {
    await db.close()
    throw error
  }
  await db.close()
  return null
}

function isPlain(environment: Environment): boolean {
  const set = (name: string): boolean => environment[name] !== undefined
  return !OTHER_NAMES.some(set) && Object.keys(environment).every((name) => !name.startsWith('GATEWAY_') || WHERE.has(name))
}
