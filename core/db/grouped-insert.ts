// Inserts rows on SQLite that have many values in common. Binding a value costs more than storing it, so each common value is bound once.
import type { Sql } from '../types/ports/db.ts'

export type SqlValue = string | number | null

export interface GroupedForm {
  readonly table: string
  /** Columns whose values are often the same in many rows; those that differ most often first, because a comparison ends there. */
  readonly shared: readonly string[]
  /** The other columns. The first one is never null. */
  readonly own: readonly string[]
  /** `ON CONFLICT …` */
  readonly conflict: string
}

/**
 * Rows of a statement, so that few texts stay prepared. A group takes the next longer one and fills it with nulls, because a statement
 * costs more than the binding of its fillers.
 */
const LENGTHS = [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 200]
const LONGEST = 200
/** Groups that a row is compared with. */
const COMPARED = 16

/** @returns a function: statements that insert all rows. The values of a row are in the order of `shared`, then `own`. */
export function groupedInsert(form: GroupedForm): (rows: readonly (readonly SqlValue[])[]) => { sql: Sql }[] {
  const { table, shared, own, conflict } = form
  const head = `INSERT INTO ${table} (${[...shared, ...own].join(', ')})`
  const single = `${head} VALUES (${places(shared.length + own.length)}) ${conflict}`
  const texts = new Map<number, string>()

  // Common values are expressions of the SELECT: in a join, SQLite would copy each text for each row.
  const textOf = (length: number): string => {
    const values = Array.from({ length }, () => `(${places(own.length)})`).join(', ')
    return `${head} SELECT ${places(shared.length)}, * FROM (VALUES ${values}) WHERE column1 IS NOT NULL ${conflict}`
  }

  const insertOf = (rows: readonly (readonly SqlValue[])[], from: number, to: number): { sql: Sql } => {
    const first = rows[from] as readonly SqlValue[]
    if (to - from === 1) return { sql: { text: single, params: first } }
    const length = LENGTHS.find((each) => each >= to - from) as number
    let text = texts.get(length)
    if (text === undefined) {
      text = textOf(length)
      texts.set(length, text)
    }
    const params = first.slice(0, shared.length)
    for (let i = from; i < to; i++) {
      const row = rows[i] as readonly SqlValue[]
      for (let column = shared.length; column < row.length; column++) params.push(row[column] as SqlValue)
    }
    for (let filler = (length - (to - from)) * own.length; filler > 0; filler--) params.push(null)
    return { sql: { text, params } }
  }

  return (rows) => {
    const groups: (readonly SqlValue[])[][] = []
    for (const row of rows) {
      const group = groupOf(groups, row, shared.length)
      if (group === undefined) groups.push([row])
      else group.push(row)
    }
    const statements: { sql: Sql }[] = []
    for (const group of groups)
      for (let at = 0; at < group.length; at += LONGEST)
        statements.push(insertOf(group, at, Math.min(group.length, at + LONGEST)))
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
  return Array.from({ length: count }, () => '?').join(', ')
}
