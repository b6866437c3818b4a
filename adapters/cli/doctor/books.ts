// Finds what ended processes left behind: requests that were never settled, and writes that the database refused. Runs before a gateway is
// loaded, because every start settles them.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/db.ts'
import type { Surroundings } from '../place.ts'
import { type Finding, ok, warn } from './finding.ts'

/** As the ledger has it: silent for longer, a process is taken for dead. */
const DEAD_AFTER_MS = 90_000

/** @param db null when it is not there, or not migrated. */
export async function checkBooks({ dataDir, plugins }: Surroundings, db: Db | null): Promise<Finding[]> {
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
  const count = Number(stray?.count ?? 0)
  if (count === 0) return []
  return [
    warn(
      'books',
      `${count} requests were under way in processes that ended, and are not settled.`,
      'A server does that at its start and every 30 s: see that one runs on this database. Their rows are marked as interrupted.',
    ),
  ]
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
