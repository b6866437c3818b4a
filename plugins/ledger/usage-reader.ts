// Reads usage rows: the newest ones as they are, or all rows of a window summed by the database.
import { z } from 'zod'
import { monthsOf } from '../../core/db/months.ts'
import { sql } from '../../core/db/sql.ts'
import { REPLAY_SOURCE } from '../../core/records/replays.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import type { UsageFilter, UsageGroup, UsageReader, UsageRow, UsageSum } from './service.ts'
import { type StoredRow, usageRowOf } from './stored-row.ts'

const DAY_MS = 86_400_000
/** Groups in memory at a time. */
const PAGE = 10_000
/** Rows at a time: other requests are served in between. */
const BATCH = 1000

/** Grouping expressions, never null, so that pages can continue after a value. */
const COLUMNS: Readonly<Record<Exclude<UsageGroup, 'month'>, Sql>> = {
  org: sql`org_id`,
  key: sql`COALESCE(key_id, -1)`,
  cost_center: sql`COALESCE(cost_center, '')`,
  user: sql`COALESCE(user_id, '')`,
  provider: sql`COALESCE(provider, '')`,
  model: sql`COALESCE(model, '')`,
  virtual_model: sql`COALESCE(virtual_model, '')`,
  // A literal: SQLite would read a parameter as a float and divide as such.
  day: sql`at / 86400000`,
  source: sql`source`,
}

export function usageReader(db: Db): UsageReader {
  return {
    newest: (filter, cap, each) => newest(db, filter, cap, each),
    sums: (filter, by) => sums(db, filter, by),
    async charged(tx, filter) {
      const row = await tx.get<{ nano: number | null; requests: number | null }>(
        sql`SELECT SUM(charge_nano) AS nano, SUM(CASE WHEN step = 0 THEN 1 ELSE 0 END) AS requests
            FROM ledger_usage WHERE ${matching(filter)} AND source <> ${REPLAY_SOURCE}`,
      )
      return { nano: row?.nano ?? 0, requests: row?.requests ?? 0 }
    },
  }
}

async function newest(db: Db, filter: UsageFilter, cap: number, each: (row: UsageRow) => void): Promise<{ truncated: boolean }> {
  let behind = sql.empty
  for (let left = cap; ; ) {
    const rows = await db.all<StoredRow>(
      sql`SELECT * FROM ledger_usage WHERE ${matching(filter)} ${behind}
          ORDER BY at DESC, request_id DESC, step DESC LIMIT ${Math.min(BATCH, left + 1)}`,
    )
    for (const row of rows.slice(0, left)) each(usageRowOf(row))
    const last = rows.at(-1)
    if (rows.length > left) return { truncated: true }
    if (last === undefined || rows.length < Math.min(BATCH, left + 1)) return { truncated: false }
    left -= rows.length
    const { at, request_id, step } = last
    // The first condition alone lets the engine use the index.
    behind = sql`AND at <= ${at} AND (at < ${at} OR (at = ${at} AND (request_id < ${request_id} OR (request_id = ${request_id} AND step < ${step}))))`
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function matching({ since, until, orgId, keyId, virtualModel }: UsageFilter): Sql {
  const all = [sql`at >= ${since} AND at < ${until}`]
  if (orgId !== undefined) all.push(sql`org_id = ${orgId ?? 0}`)
  if (keyId !== undefined) all.push(sql`key_id = ${keyId}`)
  if (virtualModel !== undefined) all.push(sql`virtual_model = ${virtualModel}`)
  return sql.and(all)
}

const int = z.number().int()
/** Above 2^53 the last digits are lost, but the report still works. */
const total = z.number()
const figures = {
  requests: int,
  errors: int,
  input_tokens: total,
  cache_read_tokens: total,
  cache_write_tokens: total,
  output_tokens: total,
  reasoning_tokens: total,
  media_units: total,
  cost_nano: total,
  charge_nano: total,
  estimated_tokens: total,
  estimated_cost_nano: total,
  estimated_charge_nano: total,
  interrupted: int,
}
const FIGURES = Object.keys(figures) as (keyof typeof figures)[]
const sumRow = z.looseObject({ ...figures, label: z.string().nullable() })
type SumRow = z.output<typeof sumRow>

/** Rows per slice; it takes one or two ms. Chunks of streams wait for it. */
const SLICE = 700

interface Sliceable {
  readonly [group: `g${number}`]: unknown
  label: string | null
}

interface Slicing<Row extends Sliceable> {
  /** Returns rows of a part of the window. */
  sum(slice: Pick<UsageFilter, 'since' | 'until'>): Promise<Row[]>
  /** Names of the group columns. */
  readonly groups: readonly `g${number}`[]
  readonly figures: readonly (keyof Row & string)[]
  /** Maximum groups in memory. */
  readonly maxGroups: number
}

/** Returns sums in the order of the groups; null: there are too many groups for memory. */
async function slicedSums<Row extends Sliceable>(
  db: Db,
  { since, until, orgId }: UsageFilter,
  { sum, groups, figures, maxGroups }: Slicing<Row>,
): Promise<Row[] | null> {
  const all = new Map<string, Row>()
  for (let from = since; ; ) {
    const end = (await placeAhead(db, orgId ?? 0, from, until)) ?? until
    for (const row of await sum({ since: from, until: end })) {
      const id = JSON.stringify(groups.map((name) => row[name]))
      const before = all.get(id)
      if (before === undefined) all.set(id, row)
      else add(before, row, figures)
    }
    if (all.size > maxGroups) return null
    if (end === until) return [...all.values()].sort((a, b) => order(a, b, groups))
    from = end
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

/** Returns the end of a slice; undefined: the end of the window. Reads only the index. */
async function placeAhead(db: Db, org: number, from: number, until: number): Promise<number | undefined> {
  const row = await db.get<{ at: number }>(
    sql`SELECT at FROM ledger_usage WHERE org_id = ${org} AND at >= ${from} AND at < ${until} ORDER BY at LIMIT 1 OFFSET ${SLICE}`,
  )
  // Many rows with the same millisecond form one slice.
  return row === undefined ? undefined : Math.min(Math.max(row.at, from + 1), until)
}

function add<Row extends Sliceable>(to: Row, { label, ...row }: Row, figures: readonly (keyof Row & string)[]): void {
  const sums = to as Record<string, unknown>
  for (const name of figures) sums[name] = (sums[name] as number) + ((row as Record<string, unknown>)[name] as number)
  if (label !== null && (to.label === null || label > to.label)) to.label = label
}

function order(a: Sliceable, b: Sliceable, groups: readonly `g${number}`[]): number {
  for (const name of groups) {
    const [x, y] = [a[name] as string | number, b[name] as string | number]
    if (x !== y) return x < y ? -1 : 1
  }
  return 0
}

/** Reads page after page, each after the last group. Every page reads the whole window again; most reports have few pages. */
async function* sums(db: Db, filter: UsageFilter, by: readonly UsageGroup[]): AsyncGenerator<UsageSum> {
  const groups = by.map((group) => (group === 'month' ? monthsOf(filter) : COLUMNS[group]))
  const names = by.map((_, index) => sql.id(`g${index}`))
  const columns = groups.map((group, index) => sql`${group} AS ${names[index]}`)
  const page = (of: UsageFilter, after: readonly unknown[] | null, limit: number): Promise<SumRow[]> =>
    db.all(
      sql`SELECT ${sql.join([...columns, TOTALS])} FROM (
            SELECT * FROM ledger_usage WHERE ${matching(of)}
          ) usage ${after === null ? sql.empty : sql`WHERE ${behind(groups, after)}`}
          ${by.length === 0 ? sql.empty : sql`GROUP BY ${sql.join(names)} ORDER BY ${sql.join(names)}`} LIMIT ${limit}`,
      sumRow,
    )
  if (db.dialect === 'sqlite' && filter.orgId !== undefined) {
    const all = await slicedSums<SumRow>(db, filter, {
      sum: (slice) => page({ ...filter, ...slice }, null, PAGE + 1),
      groups: by.map((_, index): `g${number}` => `g${index}`),
      figures: FIGURES,
      maxGroups: PAGE,
    })
    if (all !== null) return yield* all.map((row) => sumOf(row, by))
  }
  let after: readonly unknown[] | null = null
  do {
    const rows: SumRow[] = await page(filter, after, PAGE)
    for (const row of rows) if (by.length > 0 || row.requests !== null) yield sumOf(row, by)
    const last = rows.at(-1)
    after = last === undefined || rows.length < PAGE ? null : by.map((_, index) => last[`g${index}`])
  } while (after !== null)
}

const TOTALS = sql`
  COALESCE(SUM(CASE WHEN step = 0 THEN 1 ELSE 0 END), 0) AS requests,
  COALESCE(SUM(CASE WHEN step = 0 AND status >= 400 THEN 1 ELSE 0 END), 0) AS errors,
  COALESCE(SUM(input_tokens), 0) AS input_tokens,
  COALESCE(SUM(cache_read_tokens), 0) AS cache_read_tokens,
  COALESCE(SUM(cache_write_tokens), 0) AS cache_write_tokens,
  COALESCE(SUM(output_tokens), 0) AS output_tokens,
  COALESCE(SUM(reasoning_tokens), 0) AS reasoning_tokens,
  COALESCE(SUM(media_units), 0) AS media_units,
  COALESCE(SUM(cost_nano), 0) AS cost_nano,
  COALESCE(SUM(charge_nano), 0) AS charge_nano,
  COALESCE(SUM(CASE WHEN estimated = 1 THEN input_tokens + output_tokens ELSE 0 END), 0) AS estimated_tokens,
  COALESCE(SUM(CASE WHEN estimated = 1 THEN cost_nano ELSE 0 END), 0) AS estimated_cost_nano,
  COALESCE(SUM(CASE WHEN estimated = 1 THEN charge_nano ELSE 0 END), 0) AS estimated_charge_nano,
  COALESCE(SUM(CASE WHEN step = 0 AND interrupted = 1 THEN 1 ELSE 0 END), 0) AS interrupted,
  MAX(key_label) AS label`

/** (a, b, c) > (x, y, z), written out: both engines understand it, and know the types. */
function behind(groups: readonly Sql[], after: readonly unknown[]): Sql {
  return sql.or(
    groups.map((group, index) =>
      sql.and([...groups.slice(0, index).map((same, at) => sql`${same} = ${after[at]}`), sql`${group} > ${after[index]}`]),
    ),
  )
}

function sumOf(row: SumRow, by: readonly UsageGroup[]): UsageSum {
  return {
    group: by.map((group, index) => textOf(group, row[`g${index}`], row.label)),
    stored: by.map((_, index) => String(row[`g${index}`])),
    requests: row.requests,
    errors: row.errors,
    tokens: {
      input: row.input_tokens,
      cacheRead: row.cache_read_tokens,
      cacheWrite: row.cache_write_tokens,
      output: row.output_tokens,
      reasoning: row.reasoning_tokens,
    },
    costNano: row.cost_nano,
    chargeNano: row.charge_nano,
    mediaUnits: row.media_units,
    estimated: {
      tokens: row.estimated_tokens,
      costNano: row.estimated_cost_nano,
      chargeNano: row.estimated_charge_nano,
    },
    interrupted: row.interrupted,
  }
}

function textOf(group: UsageGroup, value: unknown, label: string | null): string | null {
  switch (group) {
    case 'day':
      return new Date(Number(value) * DAY_MS).toISOString().slice(0, 10)
    case 'month':
      return new Date(Date.UTC(Math.floor(Number(value) / 12), Number(value) % 12, 1)).toISOString().slice(0, 7)
    case 'key':
      return value === -1 ? null : (label ?? `#${value}`)
    case 'org':
      return value === 0 ? null : String(value)
    default:
      return value === '' ? null : String(value)
  }
}
