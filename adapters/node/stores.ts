// Opens a gateway's stores: database, master key, shared store. The host opens them; they are closed with the gateway.
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import type { Env } from '../../core/config/env.ts'
import { memoryCounters } from '../../core/counters/memory.ts'
import { isStorageUnavailable } from '../../core/db/storage-fault.ts'
import { memoryDriver } from '../../core/kv/memory-driver.ts'
import { silentLog } from '../../core/log.ts'
import { systemClock } from '../../core/timing/clock.ts'
import type { Ports } from '../../core/types/gateway.ts'
import type { Database } from '../../core/types/ports/db.ts'
import type { Clock, HealthCheck, Logger } from '../../core/types/ports/ports.ts'
import type { FallbackCounters } from '../stores/fallback-counters.ts'
import type { Link } from '../stores/ipc/link.ts'
import { openDatabase } from '../stores/open-database.ts'
import { postgresVectors } from '../stores/postgres-vectors.ts'
import { fileSpool } from '../stores/spool.ts'
import { loadMasterKey } from '../vault/master-key.ts'
import { openVault } from '../vault/vault.ts'

const IN_MEMORY = /^(sqlite:)?:memory:$/

export type Stores = Pick<Ports, 'db' | 'vault' | 'counters' | 'storage' | 'vectors' | 'spool' | 'health' | 'close'>

/**
 * Without a data directory and a database URL all data is in memory and ends with the process.
 * @param link shares rates, slots and short-lived values with the other workers, unless Redis does.
 * @throws Error naming the invalid variable, or the reason why the master key cannot open this database.
 */
export async function openStores(env: Env, ports: Partial<Ports>, link?: Link): Promise<Stores> {
  const dataDir = env.get<string | null>('DATA_DIR')
  const url = env.get<string | null>('DATABASE_URL')
  const clock = ports.clock ?? systemClock
  const ephemeral = url === null ? dataDir === null : IN_MEMORY.test(url)
  if (link !== undefined && ephemeral)
    throw new Error(
      'GATEWAY_WORKERS: several workers need a database that they share, and this one is in memory. Set GATEWAY_WORKERS=1.',
    )
  // Only this place knows which variable the address came from.
  const named = (error: unknown): unknown =>
    isStorageUnavailable(error) && (url ?? dataDir) !== null
      ? new Error(`GATEWAY_${url === null ? 'DATA_DIR' : 'DATABASE_URL'}: ${error.message}`, { cause: error })
      : error
  const db =
    ports.db ??
    (await openDatabase(url ?? (dataDir === null ? 'sqlite::memory:' : null), dataDir ?? '.').catch((error: unknown) => {
      throw named(error)
    }))
  try {
    const masterKey = loadMasterKey({
      key: env.get<string | null>('MASTER_KEY'),
      path: env.get<string | null>('MASTER_KEY_PATH'),
      dataDir,
      profile: env.get<'local' | 'cloud'>('PROFILE'),
      ephemeral,
    })
    const vault = ports.vault ?? (await openVault({ masterKey, db, clock }))
    // Replicas with one database share their counters; another gateway on the same Redis does not.
    const redis = await openRedisStore(env, vault.mac('shared-store', 'prefix').slice(0, 12), clock, ports.log)
    const shared = redis ?? (link === undefined ? null : await openIpcStore(env, link, clock, ports.log))
    const spool = dataDir === null || ephemeral ? null : fileSpool(join(dataDir, 'spool'))
    const vectors = redis?.vectors ?? (await postgresVectors(db, clock)) ?? shared?.vectors
    return {
      db,
      vault,
      ...(shared && { counters: shared.counters, storage: shared.storage }),
      ...(vectors && { vectors }),
      ...(spool && { spool }),
      health: [databaseCheck(db, clock), ...(shared ? [shared.check] : [])],
      async close() {
        await shared?.close()
        await spool?.close()
        if (ports.db === undefined) await db.close()
      },
    }
  } catch (error) {
    if (ports.db === undefined) await db.close()
    throw ports.db === undefined ? named(error) : error
  }
}

function databaseCheck(db: Database, clock: Clock): HealthCheck {
  return {
    name: 'database',
    required: true,
    async check() {
      const started = clock.monotonic()
      const ok = await db.ping().then(
        () => true,
        () => false,
      )
      return { ok, kind: db.kind, latency_ms: Math.round(clock.monotonic() - started) }
    },
  }
}

async function openRedisStore(env: Env, deployment: string, clock: Clock, log: Logger = silentLog) {
  const url = env.get<string | null>('REDIS_URL')
  if (url === null) return null
  const [{ openRedis }, { redisCounters }, { fallbackCounters }, { redisDriver }, { redisVectors }] = await Promise.all([
    import('../stores/redis-client.ts'),
    import('../stores/redis-counters.ts'),
    import('../stores/fallback-counters.ts'),
    import('../stores/redis-storage.ts'),
    import('../stores/redis-vectors.ts'),
  ])
  const link = await openRedis({ url, env: deployment, clock, log })
  const counters = fallbackCounters({
    shared: redisCounters({ link, clock }),
    local: memoryCounters(clock),
    link,
    policy: env.get<'fail-open' | 'local' | 'fail-closed'>('LIMITER_REDIS_FALLBACK'),
    clock,
  })
  return {
    counters,
    storage: createStorage({ driver: redisDriver({ link, local: memoryDriver({ clock }) }) }),
    vectors: redisVectors({ link, clock }),
    check: sharedCheck(counters),
    close: () => link.close(),
  }
}

async function openIpcStore(env: Env, link: Link, clock: Clock, log: Logger = silentLog) {
  const [{ ipcCounters }, { ipcDriver }, { ipcVectors }, { fallbackLink, patientLink }, { fallbackCounters }, { memoryVectors }] =
    await Promise.all([
      import('../stores/ipc/counters.ts'),
      import('../stores/ipc/storage.ts'),
      import('../stores/ipc/vectors.ts'),
      import('../stores/ipc/patience.ts'),
      import('../stores/fallback-counters.ts'),
      import('../../core/vectors/memory.ts'),
    ])
  const counters = fallbackCounters({
    shared: ipcCounters(link, clock),
    local: memoryCounters(clock),
    link: fallbackLink(link, clock, log),
    policy: env.get<'fail-open' | 'local' | 'fail-closed'>('LIMITER_REDIS_FALLBACK'),
    clock,
  })
  return {
    counters,
    storage: createStorage({ driver: ipcDriver(patientLink(link, clock)) }),
    vectors: ipcVectors(memoryVectors({ clock }), link.siblings),
    check: sharedCheck(counters),
    close: async () => link.close(),
  }
}

function sharedCheck(counters: FallbackCounters): HealthCheck {
  return {
    name: 'shared_store',
    required: false,
    check: async () => {
      const { ok, latency_ms, mode } = await counters.health()
      return { configured: true, ok, latency_ms: Math.round(latency_ms ?? 0), mode }
    },
  }
}
