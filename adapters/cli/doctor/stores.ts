// Checks master key, database and shared store, and creates none of them.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from '../../../core/db/sql.ts'
import { silentLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import type { Database, Db } from '../../../core/types/ports/db.ts'
import { missing } from '../installation/db.ts'
import { keyOptions } from '../installation/master-key.ts'
import { existingDatabase, type Surroundings } from '../place.ts'
import { workerCount } from '../workers/count.ts'
import { type Finding, fail, ok, reasonOf, warn } from './finding.ts'
import { roomOf } from './room.ts'

const PATIENCE_MS = 2000

/** The ledger's rule: a process without a sign of life for longer counts as dead. */
const DEAD_AFTER_MS = 90_000

/** @param db null when it does not exist or is not migrated. */
async function checkBooks({ dataDir, plugins }: Surroundings, db: Db | null): Promise<Finding[]> {
  const spool = checkSpool(join(dataDir, 'spool'))
  if (db === null || !plugins.some(({ name }) => name === 'ledger')) return spool
  const findings = [...spool, ...(await checkTraces(db))]
  return findings.length > 0 ? findings : [ok('books', 'No request waits for settlement.')]
}

async function checkTraces(db: Db): Promise<Finding[]> {
  const before = Date.now() - DEAD_AFTER_MS
  const stray = await db.get<{ count: number }>(
    sql`SELECT COUNT(*) AS count FROM ledger_dispatch
        WHERE swept_at IS NULL AND at < ${before}
          AND boot_id NOT IN (SELECT boot_id FROM ledger_instances WHERE seen_at >= ${before})`,
  )
  const count = Number(stray?.count ?? 0) + (db.dialect === 'sqlite' ? await packedTraces(db, before) : 0)
  if (count === 0) return []
  return [
    warn(
      'books',
      `${count} requests were under way in processes that ended, and are not settled.`,
      'A server does that at its start and every 30 s: see that one runs on this database. Their rows are marked as interrupted.',
    ),
  ]
}

/** Traces that share a row and are not settled: the request has no usage row and no trace of its own. */
async function packedTraces(db: Db, before: number): Promise<number> {
  const stray = await db.get<{ count: number }>(
    sql`SELECT COUNT(*) AS count FROM ledger_traces t, json_each(t.requests) r
        WHERE t.at < ${before} AND t.boot_id NOT IN (SELECT boot_id FROM ledger_instances WHERE seen_at >= ${before})
          AND instr(t.ended, r.value ->> 0) = 0
          AND NOT EXISTS (SELECT 1 FROM ledger_usage WHERE request_id = r.value ->> 0)`,
  )
  return Number(stray?.count ?? 0)
}

function checkSpool(dir: string): Finding[] {
  if (!existsSync(dir)) return []
  const files = readdirSync(dir).filter((name) => (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0) > 0)
  const waiting = files.filter((name) => /^\d+\.(jsonl|draining)$/.test(name)).length
  const damaged = files.filter((name) => /^\d+\.damaged$/.test(name)).length
  return [
    ...(waiting > 0
      ? [
          warn(
            'spool',
            `${dir} holds ${waiting} files of settlements that the database would not take.`,
            'They are applied when the database answers again, or at the next start: check the database, and the room on its disk.',
          ),
        ]
      : []),
    ...(damaged > 0
      ? [
          warn(
            'spool',
            `${dir} holds ${damaged} damaged files: lines of them could not be read, the others were applied.`,
            'Keep them with a backup, and take them out of the directory.',
          ),
        ]
      : []),
  ]
}

/** `ready`: the gateway can be loaded without creating or changing anything. */
export async function checkStores(place: Surroundings): Promise<{ findings: Finding[]; ready: boolean }> {
  const database = await checkDatabase(place)
  try {
    const findings = [
      ...database.findings,
      ...roomOf(place.file),
      ...(await checkMasterKey(place, database.db)),
      ...(await checkShared(place)),
      ...(await checkBooks(place, database.migrated ? database.db : null)),
    ]
    return { findings, ready: database.migrated && findings.every(({ status }) => status !== 'fail') }
  } finally {
    await database.db?.close()
  }
}

async function checkDatabase(place: Surroundings): Promise<{ findings: Finding[]; db: Database | null; migrated: boolean }> {
  const { env, file, databaseUrl } = place
  const cloud = env.get<string>('PROFILE') === 'cloud'
  const where = file === null ? (databaseUrl?.split(':')[0] ?? '') : file
  if (file === null && !/^postgres/.test(databaseUrl ?? '')) {
    const finding = warn(
      'database',
      'The database is in memory: all ends with the process.',
      'Set GATEWAY_DATABASE_URL or GATEWAY_DATA_DIR.',
    )
    return { findings: [finding], db: null, migrated: false }
  }
  let db: Database | null = null
  try {
    db = await existingDatabase(place)
    if (db === null)
      return { findings: [ok('database', `${where} is not there yet; the first start makes it.`)], db, migrated: false }
    await db.ping()
    const { steps } = await missing(place)
    const findings: Finding[] = []
    if (steps.length > 0)
      findings.push(
        warn(
          'database',
          `${where} lacks ${steps.length} migrations.`,
          'Run `hookgate db migrate` with a backup at hand; `serve` does it too.',
        ),
      )
    else findings.push(ok('database', `${where} is reachable and up to date.`))
    if (cloud && file !== null)
      findings.push(
        warn(
          'replicas',
          'SQLite is a file of one machine: replicas elsewhere cannot share it.',
          'Use PostgreSQL: GATEWAY_DATABASE_URL=postgres://…',
        ),
      )
    return { findings, db, migrated: steps.length === 0 }
  } catch (error) {
    const fix =
      file === null
        ? 'Check GATEWAY_DATABASE_URL, and that the server runs.'
        : 'Check the permissions of the file and of its directory.'
    return { findings: [fail('database', `${where}: ${reasonOf(error)}`, fix)], db, migrated: false }
  }
}

async function checkMasterKey(place: Surroundings, db: Database | null): Promise<Finding[]> {
  const [{ loadMasterKey }, { openVault }, { nextPath }, { hasKeyTable }] = await Promise.all([
    import('../../vault/master-key.ts'),
    import('../../vault/vault.ts'),
    import('../../vault/key-file.ts'),
    import('../../vault/key-table.ts'),
  ])
  try {
    const key = loadMasterKey(keyOptions(place))
    const there = (await key.read()).length > 0
    const findings: Finding[] = []
    if (key.path !== null && existsSync(nextPath(key.path)))
      findings.push(
        warn(
          'master key',
          `A rotation was interrupted: ${nextPath(key.path)} waits.`,
          'Run `hookgate master-key rotate` again; the next start ends it as well.',
        ),
      )
    else if (db !== null && (await hasKeyTable(db))) {
      await openVault({ masterKey: key, db, create: false })
      findings.push(
        ok(
          'master key',
          key.path === null ? 'It opens the database.' : `${key.path} opens the database, and is closed to others.`,
        ),
      )
    } else if (there) findings.push(ok('master key', key.path === null ? 'It is given.' : `${key.path} is closed to others.`))
    else if (key.create !== null) findings.push(ok('master key', `${key.path} is not there yet; the first start makes it.`))
    else
      findings.push(
        fail('master key', `${key.path} is missing.`, 'Restore it from a backup; for a new gateway: openssl rand -base64 32'),
      )
    if (key.path !== null && there && keptTogether(place, key.path))
      findings.push(
        warn(
          'backup',
          'Master key and database are in one directory: a copy of it can read every secret.',
          'Keep the key elsewhere (GATEWAY_MASTER_KEY_PATH), or see that backups are encrypted. Without the key a backup cannot be opened.',
        ),
      )
    return findings
  } catch (error) {
    return [
      fail(
        'master key',
        reasonOf(error),
        'After a rotation every replica needs the new key, and a restored backup the former one.',
      ),
    ]
  }
}

/** Returns whether the key is in the database's directory. On the local profile this is no problem: the directory belongs to one user. */
function keptTogether({ file, env }: Surroundings, key: string): boolean {
  if (file === null || env.get<string>('PROFILE') !== 'cloud') return false
  return (
    statSync(key, { throwIfNoEntry: false })?.dev !== undefined &&
    key.slice(0, key.lastIndexOf('/')) === file.slice(0, file.lastIndexOf('/'))
  )
}

async function checkShared({ env, databaseUrl }: Surroundings): Promise<Finding[]> {
  const url = env.get<string | null>('REDIS_URL')
  if (url === null) {
    const workers = workerCount(env.get<string | null>('WORKERS') ?? undefined, 'GATEWAY_WORKERS')
    if (workers > 1 && env.get<string>('PROFILE') !== 'cloud' && !/^postgres/.test(databaseUrl ?? ''))
      return [ok('shared store', `${workers} workers share rates and requests in flight through their primary process.`)]
    if (env.get<string>('PROFILE') !== 'cloud' && !/^postgres/.test(databaseUrl ?? ''))
      return [ok('shared store', 'None, and one process needs none.')]
    return [
      warn(
        'shared store',
        'None: each replica counts rates and requests in flight for itself.',
        'With more than one replica, set GATEWAY_REDIS_URL.',
      ),
    ]
  }
  try {
    const { openRedis } = await import('../../stores/redis-client.ts')
    const link = await openRedis({ url, env: 'doctor', clock: systemClock, log: silentLog })
    for (const until = Date.now() + PATIENCE_MS; !link.usable && Date.now() < until; ) await sleep(20)
    const { usable } = link
    await link.close()
    if (usable) return [ok('shared store', 'Redis is reachable.')]
    const policy = env.get<string>('LIMITER_REDIS_FALLBACK')
    return [
      fail(
        'shared store',
        `Redis does not answer; the policy is \`${policy}\`.`,
        'Check GATEWAY_REDIS_URL, and that the server runs.',
      ),
    ]
  } catch (error) {
    return [fail('shared store', reasonOf(error), 'Check GATEWAY_REDIS_URL.')]
  }
}
