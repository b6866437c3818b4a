// Stores the card, its sources, its sync runs, and price changes for review.
import { z } from 'zod'
import { lock } from '../../core/db/lock.ts'
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db, View } from '../../core/types/ports/db.ts'
import { type Book, type BookModel, CARD_SOURCES, type CardSource, type Drift } from './book.ts'

const int = z.number().int()
const text = z.string().nullable()

const sourceRow = z
  .object({
    source: z.enum(CARD_SOURCES),
    run_id: int,
    ref: text,
    url: z.string(),
    etag: text,
    fetched_at: int,
    confirmed_at: int,
  })
  .transform(({ run_id, fetched_at, confirmed_at, ...rest }) => ({
    ...rest,
    runId: run_id,
    fetchedAt: fetched_at,
    confirmedAt: confirmed_at,
  }))
export type SourceState = z.output<typeof sourceRow>

const runRow = z.object({
  id: int,
  reason: z.enum(['start', 'timer', 'request']),
  status: z.enum(['running', 'ok', 'unchanged', 'failed']),
  source: z.enum(CARD_SOURCES).nullable(),
  ref: text,
  models: int,
  changed: int,
  drifted: int,
  refused: int,
  error: text,
  started_at: int,
  finished_at: int.nullable(),
  lease_until: int,
})
export type RunRow = z.output<typeof runRow>

const driftRow = z.object({
  id: int,
  run_id: int,
  provider: z.string(),
  model: z.string(),
  field: z.string(),
  old_nano: int,
  new_nano: int,
  detected_at: int,
  reviewed_at: int.nullable(),
  reviewed_by: text,
})
export type DriftRow = z.output<typeof driftRow>

/** 0: there is no card yet. */
export async function cardRun(db: Db): Promise<number> {
  return (await db.get<{ run_id: number }>(sql`SELECT run_id FROM pricing_card WHERE id = 1`))?.run_id ?? 0
}

/** Only the gateway writes it, and it has thousands of entries, so it is not validated again. */
export async function storedBook(db: Db): Promise<Book> {
  const row = await db.get<{ models: string }>(sql`SELECT models FROM pricing_card WHERE id = 1`)
  if (row === undefined) return new Map()
  const parsed = JSON.parse(row.models) as Record<string, Record<string, BookModel>>
  return new Map(Object.entries(parsed).map(([provider, models]) => [provider, new Map(Object.entries(models))]))
}

/** Returns false when another run has stored a card since `basedOn`. */
export async function storeBook(db: Db, book: Book, runId: number, basedOn: number): Promise<boolean> {
  await lock(db, 'pricing')
  if ((await cardRun(db)) !== basedOn) return false
  const models = JSON.stringify(Object.fromEntries([...book].map(([provider, found]) => [provider, Object.fromEntries(found)])))
  await db.run(
    sql`INSERT INTO pricing_card (id, run_id, models) VALUES (1, ${runId}, ${models})
        ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id, models = excluded.models`,
  )
  return true
}

export function allSources(db: Db): Promise<SourceState[]> {
  return db.all(sql`SELECT * FROM pricing_sources`, sourceRow)
}

export async function storeSource(db: Db, state: SourceState): Promise<void> {
  const { source, runId, ref, url, etag, fetchedAt, confirmedAt } = state
  await db.run(
    sql`INSERT INTO pricing_sources (source, run_id, ref, url, etag, fetched_at, confirmed_at)
        VALUES (${source}, ${runId}, ${ref}, ${url}, ${etag}, ${fetchedAt}, ${confirmedAt})
        ON CONFLICT (source) DO UPDATE SET run_id = excluded.run_id, ref = excluded.ref, url = excluded.url, etag = excluded.etag,
          fetched_at = excluded.fetched_at, confirmed_at = excluded.confirmed_at`,
  )
}

export interface Claim {
  readonly reason: RunRow['reason']
  readonly now: number
  readonly leaseMs: number
  /** When a run has begun after this time, there is nothing to do. */
  readonly notSince: number | null
}

/** Returns the id of a new run; null: another process is running one, or has done so. */
export function claimRun(db: Db, { reason, now, leaseMs, notSince }: Claim): Promise<number | null> {
  return db.tx(async (tx) => {
    await lock(tx, 'pricing')
    await tx.run(sql`UPDATE pricing_runs SET status = 'failed', finished_at = ${now}, error = 'The process that ran it has ended.'
                     WHERE status = 'running' AND lease_until <= ${now}`)
    const recent = notSince === null ? sql.empty : sql` OR started_at > ${notSince}`
    const other = await tx.get(sql`SELECT id FROM pricing_runs WHERE status = 'running'${recent} ORDER BY id DESC LIMIT 1`)
    if (other !== undefined) return null
    const row = await tx.get<{ id: number }>(
      sql`INSERT INTO pricing_runs (reason, status, started_at, lease_until)
          VALUES (${reason}, 'running', ${now}, ${now + leaseMs}) RETURNING id`,
    )
    return row?.id ?? null
  })
}

export async function finishRun(db: Db, run: Omit<RunRow, 'reason' | 'started_at' | 'lease_until'>): Promise<RunRow> {
  const row = await db.get(
    sql`UPDATE pricing_runs SET status = ${run.status}, source = ${run.source}, ref = ${run.ref}, models = ${run.models},
          changed = ${run.changed}, drifted = ${run.drifted}, refused = ${run.refused}, error = ${run.error},
          finished_at = ${run.finished_at} WHERE id = ${run.id} RETURNING *`,
    runRow,
  )
  if (row === undefined) throw new Error('The run is not there any more.')
  return row
}

/** Deletes old failed runs. Runs that stored prices stay, because usage rows refer to them. */
export async function pruneRuns(db: Db, before: number): Promise<void> {
  await db.run(sql`DELETE FROM pricing_runs WHERE started_at < ${before} AND status = 'failed'`)
  await db.run(sql`DELETE FROM pricing_drift WHERE detected_at < ${before} AND reviewed_at IS NOT NULL`)
}

export function runOf(db: Db, id: number): Promise<RunRow | undefined> {
  return db.get(sql`SELECT * FROM pricing_runs WHERE id = ${id} AND status <> 'running'`, runRow)
}

/** Returns the last finished run; undefined: there is none. */
export function lastRun(db: Db): Promise<RunRow | undefined> {
  return db.get(sql`SELECT * FROM pricing_runs WHERE status <> 'running' ORDER BY id DESC LIMIT 1`, runRow)
}

/** Rows per statement, because engines limit its parameters. */
const AT_ONCE = 100

export async function insertDrifts(db: Db, drifts: readonly Drift[], runId: number, now: number): Promise<void> {
  for (let from = 0; from < drifts.length; from += AT_ONCE) {
    const rows = drifts
      .slice(from, from + AT_ONCE)
      .map(({ provider, model, field, before, after }) => [runId, provider, model, field, before, after, now])
    await db.run(
      sql`INSERT INTO pricing_drift (run_id, provider, model, field, old_nano, new_nano, detected_at) VALUES ${sql.values(rows)}`,
    )
  }
}

export interface DriftFilter {
  readonly reviewed: boolean
  /** Entries older than this id. */
  readonly before: number | null
  readonly limit: number
}

/** Returns changes, newest first. */
export function drifts(db: Db, { reviewed, before, limit }: DriftFilter): Promise<DriftRow[]> {
  const older = before === null ? sql.empty : sql` AND id < ${before}`
  const which = reviewed ? sql`reviewed_at IS NOT NULL` : sql`reviewed_at IS NULL`
  return db.all(sql`SELECT * FROM pricing_drift WHERE ${which}${older} ORDER BY id DESC LIMIT ${limit}`, driftRow)
}

export async function openDrifts(db: Db): Promise<number> {
  return (await db.get<{ n: number }>(sql`SELECT COUNT(*) AS n FROM pricing_drift WHERE reviewed_at IS NULL`))?.n ?? 0
}

/** A reviewed change stays unchanged. undefined: it does not exist. */
export async function reviewDrift(db: Db, id: number, by: string, now: number): Promise<DriftRow | undefined> {
  await db.run(sql`UPDATE pricing_drift SET reviewed_at = ${now}, reviewed_by = ${by} WHERE id = ${id} AND reviewed_at IS NULL`)
  return db.get(sql`SELECT * FROM pricing_drift WHERE id = ${id}`, driftRow)
}

// The tables' content in memory. The book is read again only after a run has stored another one.
export interface Stored {
  readonly book: Book
  /** The run that stored the book; 0: none has. */
  readonly bookRun: number
  readonly sources: ReadonlyMap<CardSource, SourceState>
  readonly lastRun: RunRow | undefined
  /** The newest unreviewed changes, by `provider/model` in lower case. */
  readonly drift: ReadonlyMap<string, readonly DriftRow[]>
  readonly driftOpen: number
}

/** More entries add no information: the source is faulty. */
const MAX_DRIFT = 5000

export function storedView(gateway: PluginGateway): Promise<View<Stored>> {
  let book: Book = new Map()
  let bookRun = -1
  return gateway.view('card', async (db: Db): Promise<Stored> => {
    const run = await cardRun(db)
    if (run !== bookRun) {
      book = await storedBook(db)
      bookRun = run
    }
    const sources = await allSources(db)
    const drift = new Map<string, DriftRow[]>()
    for (const row of await drifts(db, { reviewed: false, before: null, limit: MAX_DRIFT })) {
      const key = `${row.provider}/${row.model}`.toLowerCase()
      const rows = drift.get(key)
      if (rows === undefined) drift.set(key, [row])
      else rows.push(row)
    }
    return {
      book,
      bookRun: run,
      sources: new Map(sources.map((state) => [state.source, state])),
      lastRun: await lastRun(db),
      drift,
      driftOpen: await openDrifts(db),
    }
  })
}
