// Inserts rows on SQLite that have many values in common. Binding a value costs more than storing it, so each common value is bound once.
import type { Sql } from '../types/ports/db.ts'

export type SqlValue = string | number | null

export interface GroupedForm {
  readonly table: string
  /** Columns whose values are often the same in many rows; those that differ most often first, because a comparison ends there. */
  readonly shared: readonly string[]
  /** The other columns. */
  readonly own: readonly string[]
  /** `ON CONFLICT …` */
  readonly conflict: string
}

/** Rows of a statement, so that few texts stay prepared. */
const LENGTHS = [128, 64, 32, 16, 8, 4, 2]
/** Groups that a row is compared with. */
const COMPARED = 16

/** @returns a function: statements that insert all rows. The values of a row are in the order of `shared`, then `own`. */
export function groupedInsert(form: GroupedForm): (rows: readonly (readonly SqlValue[])[]) => { sql: Sql }[] {
  const { table, shared, own, conflict } = form
  const head = `INSERT INTO ${table} (${[...shared, ...own].join(', ')})`
  const single = `${head} VALUES ${places(shared.length + own.length)} ${conflict}`
  const texts = new Map<number, string>()

  const textOf = (rows: number): string => {
    const values = Array.from({ length: rows }, () => places(own.length)).join(', ')
    // WHERE: otherwise ON would belong to the join.
    return `${head} SELECT * FROM (VALUES ${places(shared.length)}) CROSS JOIN (VALUES ${values}) WHERE true ${conflict}`
  }

  /** Adds the statements of rows that share their first values. */
  const addGroup = (to: { sql: Sql }[], rows: readonly (readonly SqlValue[])[]): void => {
    let at = 0
    for (const length of LENGTHS) {
      for (; rows.length - at >= length; at += length) {
        const text = texts.get(length) ?? textOf(length)
        texts.set(length, text)
        const params = (rows[at] as readonly SqlValue[]).slice(0, shared.length)
        for (let i = at; i < at + length; i++) {
          const row = rows[i] as readonly SqlValue[]
          for (let column = shared.length; column < row.length; column++) params.push(row[column] as SqlValue)
        }
        to.push({ sql: { text, params } })
      }
    }
    for (; at < rows.length; at++) to.push({ sql: { text: single, params: rows[at] as readonly SqlValue[] } })
  }

  return (rows) => {
    const groups: (readonly SqlValue[])[][] = []
    for (const row of rows) {
      const group = groupOf(groups, row, shared.length)
      if (group === undefined) groups.push([row])
      else group.push(row)
    }
    const statements: { sql: Sql }[] = []
    for (const group of groups) addGroup(statements, group)
    return statements
  }
}

function groupOf(
  groups: readonly (readonly SqlValue[])[][],
  row: readonly SqlValue[],
  shared: number,
): (readonly SqlValue[])[] | undefined {
  for (let i = groups.length - 1; i >= 0 && i >= groups.length - COMPARED; i--) {
    const group = groups[i] as (readonly SqlValue[])[]
    if (sharesWith(group[0] as readonly SqlValue[], row, shared)) return group
  }
  return undefined
}

function sharesWith(a: readonly SqlValue[], b: readonly SqlValue[], shared: number): boolean {
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return false
  return true
}

function places(count: number): string {
  return `(${Array.from({ length: count }, () => '?').join(', ')})`
}
