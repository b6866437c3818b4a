// kill -9 during writes, again and again on the same database: what was acknowledged must be there afterwards.
import { join } from 'node:path'
import { openDatabase } from '../../adapters/stores/open-database.ts'
import { migrate } from '../../core/db/migrate.ts'
import { sql } from '../../core/db/sql.ts'
import type { Database } from '../../core/types/ports/db.ts'
import { runTs } from './run-ts.ts'
import { untilAlone } from './until-alone.ts'

export interface KillFigures {
  cycles: number
  acknowledged: number
  /** Acknowledged and not there. */
  lost: number
  /** Only one of the two rows of a transaction is there. */
  torn: number
  /** Cycles after which the file was damaged (SQLite). */
  damaged: number
  /** Written, but killed before it could say so. */
  unacknowledged: number
}

/** Of ledger-writer.ts. */
const AT_ONCE = 12

const PLUGINS = [
  {
    name: 'ledger',
    migrations: [
      {
        id: '001',
        up: 'CREATE TABLE ledger (n {{int}} PRIMARY KEY, filler TEXT NOT NULL); CREATE TABLE ledger_twin (n {{int}} PRIMARY KEY)',
      },
    ],
  },
]

/** @param url of a database of its own; or null for SQLite in `dir`. */
export async function killCycles(options: {
  url: string | null
  dir: string
  cycles: number
  seed: number
}): Promise<KillFigures> {
  const url = options.url ?? `sqlite:${join(options.dir, 'ledger.db')}`
  const random = mulberry32(options.seed)
  const figures: KillFigures = { cycles: 0, acknowledged: 0, lost: 0, torn: 0, damaged: 0, unacknowledged: 0 }
  const acknowledged = new Set<number>()
  let first = 0
  await look(url, (db) => migrate(db, PLUGINS))
  for (let cycle = 0; cycle < options.cycles; cycle++) {
    for (const n of await killedWriter(url, first, random)) acknowledged.add(n)
    await look(url, async (db) => {
      await untilAlone(db)
      const rows = await numbers(db, 'ledger')
      const twins = await numbers(db, 'ledger_twin')
      figures.cycles++
      figures.acknowledged = acknowledged.size
      figures.lost = [...acknowledged].filter((n) => !rows.has(n)).length
      figures.torn += [...rows].filter((n) => !twins.has(n)).length + [...twins].filter((n) => !rows.has(n)).length
      figures.unacknowledged = [...rows].filter((n) => !acknowledged.has(n)).length
      if (db.dialect === 'sqlite') {
        const check = await db.get(sql`PRAGMA integrity_check`)
        if (check?.integrity_check !== 'ok') figures.damaged++
      }
      first = Math.max(first, ...rows) + 1
    })
  }
  return figures
}

/** The numbers it said before it was killed. */
async function killedWriter(url: string, first: number, random: () => number): Promise<number[]> {
  const child = runTs('ledger-writer.ts', url, String(first))
  let said = ''
  let failure = ''
  let armed = false
  child.stderr.on('data', (chunk) => (failure += chunk))
  child.stdout.on('data', (chunk) => {
    said += chunk
    // As many as it writes at once: a slow machine has something to lose too.
    if (armed || said.split('\n').length <= AT_ONCE) return
    armed = true
    setTimeout(() => child.kill('SIGKILL'), random() * 60)
  })
  const signal = await new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)))
  if (signal !== 'SIGKILL') throw new Error(`The writer ended by itself: ${failure}`)
  // Its last line may be cut.
  return said.slice(0, said.lastIndexOf('\n')).split('\n').map(Number)
}

async function look<T>(url: string, fn: (db: Database) => Promise<T>): Promise<T> {
  const db = await openDatabase(url, '.')
  try {
    return await fn(db)
  } finally {
    await db.close()
  }
}

async function numbers(db: Database, table: string): Promise<Set<number>> {
  return new Set((await db.all<{ n: number }>(sql`SELECT n FROM ${sql.id(table)}`)).map((row) => row.n))
}

function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
