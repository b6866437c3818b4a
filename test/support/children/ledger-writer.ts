// Writes numbered pairs of rows by every way of writing there is, and says each number on stdout once it was told that the
// write is in. It is made to be killed.
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { GroupCommit } from '../../../core/db/group-commit.ts'
import { sql } from '../../../core/db/sql.ts'
import { silentLog } from '../../../core/log.ts'
import { systemClock } from '../../../core/timing/clock.ts'
import { say } from './say.ts'

const [url, first] = process.argv.slice(2) as [string, string]
const db = await openDatabase(url, '.')
const commits = new GroupCommit(db, systemClock, silentLog)

const pair = (n: number) => [
  { sql: sql`INSERT INTO ledger (n, filler) VALUES (${n}, ${'x'.repeat(n % 700)})`, expect: 1 },
  { sql: sql`INSERT INTO ledger_twin (n) VALUES (${n})` },
]

const ways: ((n: number) => Promise<unknown>)[] = [
  (n) => db.atomic(pair(n)),
  (n) => commits.add(pair(n)),
  (n) =>
    db.tx(async (tx) => {
      for (const statement of pair(n)) await tx.run(statement.sql)
    }),
]

for (let n = Number(first); ; n += 12) {
  const batch = Array.from({ length: 12 }, (_, i) => n + i)
  await Promise.all(
    batch.map(async (each) => {
      await ways[each % ways.length]?.(each)
      say(`${each}\n`)
    }),
  )
  // A commit of its own for this one, and pages that a checkpoint moves.
  if (n % 60 === 0) await db.run(sql`DELETE FROM ledger_twin WHERE n < 0`)
}
