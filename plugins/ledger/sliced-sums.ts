// Sums of many rows where the database sums on the thread that serves requests: some thousand rows at a time, in the order of
// their time, with requests served in between. Exact all the same: a row is in one slice.
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/db.ts'
import type { UsageFilter } from './service.ts'

/** Rows: some ten ms. */
const SLICE = 5000

export interface Sliceable {
  readonly [group: `g${number}`]: unknown
  label: string | null
}

export interface Slicing<Row extends Sliceable> {
  /** Rows of a part of the window. */
  sum(slice: Pick<UsageFilter, 'since' | 'until'>): Promise<Row[]>
  /** Names of the groups' columns. */
  readonly groups: readonly `g${number}`[]
  readonly figures: readonly (keyof Row & string)[]
  /** In memory at a time. */
  readonly maxGroups: number
}

/** In the order of the groups; null: there are too many of them to be held. */
export async function slicedSums<Row extends Sliceable>(
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

/** Where a slice ends; undefined: with the window. Read from the index alone. */
async function placeAhead(db: Db, org: number, from: number, until: number): Promise<number | undefined> {
  const row = await db.get<{ at: number }>(
    sql`SELECT at FROM ledger_usage WHERE org_id = ${org} AND at >= ${from} AND at < ${until} ORDER BY at LIMIT 1 OFFSET ${SLICE}`,
  )
  // So many in one millisecond are one slice.
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
