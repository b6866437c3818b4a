// The `sql` tag: values become `?` parameters and fragments compose. Text from a variable is never spliced in.
import type { Sql } from '../types/ports/db.ts'

type Param = string | number | null | Uint8Array

/** Only the tag and its helpers create fragments. An object of the same shape from elsewhere is refused. */
class Fragment implements Sql {
  readonly text: string
  readonly params: readonly Param[]
  readonly #made = true

  constructor(text: string, params: readonly Param[]) {
    this.text = text
    this.params = params
  }

  static is(value: unknown): value is Fragment {
    return typeof value === 'object' && value !== null && #made in value
  }
}

/**
 * `sql`SELECT * FROM keys WHERE id = ${id}``. Values: string, finite number, boolean (as 0 or 1), bigint within 2^53, Uint8Array, null,
 * or another fragment.
 * @throws TypeError for any other value, also undefined, and for a literal `?` in the text.
 */
function tag(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  let text = literal(strings[0] as string)
  if (values.length === 0) return new Fragment(text, [])
  const params: Param[] = []
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (Fragment.is(value)) {
      if (value instanceof List && /\bnot\s+in\s*$/i.test(text)) throw new TypeError(NOT_IN)
      text += value.text
      for (const param of value.params) params.push(param)
    } else {
      text += '?'
      params.push(bindable(value))
    }
    text += literal(strings[i + 1] as string)
  }
  return new Fragment(text, params)
}

class List extends Fragment {}

const NOT_IN = 'sql: NOT IN with a list that may be empty matches nothing; say NOT EXISTS or filter after the query.'

/** Returns a quoted table or column name: lower-case letters, digits, underscores; `t.column` is allowed. */
function id(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/.test(name))
    throw new TypeError(`sql.id: ${JSON.stringify(name)} is not an identifier (a-z, 0-9, _; at most 63).`)
  return new Fragment(`"${name.replace('.', '"."')}"`, [])
}

/** For `x IN ${sql.in(list)}`: returns a list in parentheses; an empty one matches nothing. At most about 30,000 values. */
function inList(list: readonly unknown[]): Sql {
  if (list.length === 0) return new List('(NULL)', [])
  const { text, params } = join(list)
  return new List(`(${text})`, params as Param[])
}

/** `((a) AND (b))`; true for an empty list. */
const and = (fragments: readonly Sql[]): Sql => condition(fragments, ' AND ', '(1=1)')

/** `((a) OR (b))`; false for an empty list. */
const or = (fragments: readonly Sql[]): Sql => condition(fragments, ' OR ', '(1=0)')

/** Joins fragments or values with a fragment between them; default a comma. */
function join(parts: readonly unknown[], separator: Sql = COMMA): Sql {
  if (!Fragment.is(separator)) throw new TypeError('sql.join: the separator must be made by the sql tag.')
  const params: Param[] = []
  const texts = parts.map((part, i) => {
    if (i > 0) params.push(...separator.params)
    const piece = Fragment.is(part) ? part : new Fragment('?', [bindable(part)])
    for (const param of piece.params) params.push(param)
    return piece.text
  })
  return new Fragment(texts.join(separator.text), params)
}

/** For `VALUES ${sql.values(rows)}`: `(?, ?), (?, ?)`. @throws TypeError for no rows or for rows of different lengths. */
function values(rows: readonly (readonly unknown[])[]): Sql {
  const width = rows[0]?.length ?? 0
  if (width === 0 || rows.some((row) => row.length !== width))
    throw new TypeError('sql.values: needs at least one row, all of the same length.')
  return join(rows.map((row) => inList(row)))
}

function condition(fragments: readonly Sql[], word: string, none: string): Sql {
  if (fragments.length === 0) return new Fragment(none, [])
  const params: Param[] = []
  const texts = fragments.map((fragment) => {
    if (!Fragment.is(fragment)) throw new TypeError('sql.and and sql.or take fragments made by the sql tag.')
    for (const param of fragment.params) params.push(param)
    return `(${fragment.text})`
  })
  return new Fragment(`(${texts.join(word)})`, params)
}

function literal(text: string): string {
  // A literal `?` would shift every parameter after it.
  if (text.includes('?')) throw new TypeError('sql: no literal `?` in the text; pass the value that holds it.')
  return text
}

function bindable(value: unknown): Param {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`sql: ${value} cannot be stored.`)
      return value
    case 'boolean':
      return value ? 1 : 0
    case 'bigint':
      if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < BigInt(Number.MIN_SAFE_INTEGER))
        throw new TypeError(`sql: ${value} is beyond 2^53 and would come back as another number.`)
      return Number(value)
    case 'undefined':
      throw new TypeError('sql: undefined is not a value; say null when you mean NULL.')
    default:
      if (value === null || value instanceof Uint8Array) return value
      throw new TypeError(
        `sql: a ${Array.isArray(value) ? 'list' : typeof value} is not a value; say sql.in() or JSON.stringify().`,
      )
  }
}

const COMMA = new Fragment(', ', [])

export const sql = Object.assign(tag, { id, in: inList, and, or, join, values, empty: new Fragment('', []) as Sql })
