// Query members of GET /api/logs, and their SQL conditions.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { inOrder, NOT_IN_ORDER } from '../../core/http/window.ts'
import type { Sql } from '../../core/types/ports/db.ts'

const MAX_CHOICES = 50
/** The gateway's own id, or a caller's UUID. */
const REQUEST_ID = /^(?:req_[0-9a-f-]*|[0-9a-f]{8}-[0-9a-f-]*)$/
const ID_OF_A_MINUTE = 'req_'.length + 8

/** Comma-separated or repeated values, up to a maximum. */
function choices<T>(one: z.ZodType<T, string>) {
  const text = z
    .string()
    .min(1, 'must not be empty')
    .max(8192)
    .transform((text, context) => {
      const values: T[] = []
      const given = text.split(',')
      const complain = (message: string) => context.addIssue({ code: 'custom', message })
      if (given.length > MAX_CHOICES) complain(`must be at most ${MAX_CHOICES} values`)
      for (const each of given.slice(0, MAX_CHOICES)) {
        const parsed = one.safeParse(each)
        if (parsed.success) values.push(parsed.data)
        else complain(parsed.error.issues[0]?.message ?? 'is wrong')
      }
      return values
    })
  return z
    .array(z.string().meta({ minLength: 1 }))
    .transform((given) => given.join(','))
    .pipe(text)
    .optional()
}

const word = z
  .string()
  .min(1, 'must not be empty')
  .max(256)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters')
const whole = z.string().regex(/^\d{1,15}$/, 'must be a whole number')
const id = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'must be a positive integer')
  .transform(Number)
const yesNo = z.enum(['true', 'false']).transform((text) => text === 'true')
const status = z.string().regex(/^(?:[1-5]\d\d|[1-5]xx|error)$/, 'must be a status such as 200, 4xx, 5xx or error')
const usd = z
  .string()
  .regex(/^\d{1,6}(?:\.\d{1,12})?$/, 'must be an amount in USD such as 0.05')
  .transform((text) => Math.ceil(Number(text) * 1e9))
const instant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date such as 2027-01-31 or an RFC 3339 time')
  .transform((text) => Date.parse(text))

export const logQuery = z
  .strictObject({
    limit: whole.transform(Number).pipe(z.number().min(1, 'must be at least 1').max(200, 'must be at most 200')).default(50),
    cursor: z
      .string()
      .max(200)
      .transform(placeOf)
      .refine((place) => place !== null, 'must be the `next_cursor` of a page')
      .optional()
      .describe('`next_cursor` of the page before.'),
    since: instant.optional(),
    until: instant.optional().describe('Not included.'),
    provider: choices(word),
    model: choices(word),
    source: choices(word),
    status: choices(status).describe('200, 4xx, 5xx or error; several by comma or repeated, as everywhere here.'),
    key_id: choices(id),
    virtual_model: choices(word),
    session_id: choices(word),
    user_id: choices(word),
    cost_center: choices(word),
    cached: yesNo.optional(),
    free_pool: yesNo.optional(),
    min_latency_ms: whole.transform(Number).optional(),
    min_cost_usd: usd.optional(),
    q: word
      .optional()
      .describe(
        'Beginning of a request id (`req_…`, or of a UUID that the caller gave: at least its first nine characters), or a piece of an error message.',
      ),
  })
  .refine(inOrder, NOT_IN_ORDER)
export type LogFilter = Partial<z.output<typeof logQuery>>

/** The last row of a page: its time and its number. */
export type Place = readonly [at: number, id: number]

export function cursorOf([at, id]: Place): string {
  return btoa(JSON.stringify([at, id]))
    .replace(/=+$/, '')
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}

function placeOf(cursor: string): Place | null {
  try {
    const place: unknown = JSON.parse(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')))
    return Array.isArray(place) && place.length === 2 && place.every(Number.isSafeInteger) ? (place as unknown as Place) : null
  } catch {
    return null
  }
}

export function conditionsOf(orgId: number | null, filter: LogFilter): Sql {
  const { cursor, since, until, cached, free_pool, min_latency_ms, min_cost_usd, q } = filter
  // The `+` prevents the use of the page index when the id index finds the few matching rows.
  const org = q !== undefined && namesFew(q) ? sql`+org_id` : sql`org_id`
  return sql.and([
    sql`${org} = ${orgId ?? 0}`,
    ...(cursor ? [sql`(created_at, id) < (${cursor[0]}, ${cursor[1]})`] : []),
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(until === undefined ? [] : [sql`created_at < ${until}`]),
    ...(['provider', 'model', 'source', 'key_id', 'virtual_model', 'session_id', 'user_id', 'cost_center'] as const).flatMap(
      (name) => anyOf(name, filter[name]),
    ),
    ...statusIn(filter.status),
    ...(cached === undefined ? [] : [cached ? sql`cached IS NOT NULL` : sql`cached IS NULL`]),
    ...(free_pool === undefined ? [] : [sql`free_pool = ${free_pool}`]),
    ...(min_latency_ms === undefined ? [] : [sql`latency_ms >= ${min_latency_ms}`]),
    ...(min_cost_usd === undefined ? [] : [sql`cost_nano >= ${min_cost_usd}`]),
    ...(q === undefined ? [] : [found(q)]),
  ])
}

/** A single value becomes an equality, so that an index can return the rows in order. */
function anyOf(column: string, values: readonly (string | number)[] | undefined): Sql[] {
  if (values === undefined) return []
  return [values.length === 1 ? sql`${sql.id(column)} = ${values[0]}` : sql`${sql.id(column)} IN ${sql.in(values)}`]
}

/** `status >= 400` is literal text: only then the engines use the error index. */
const FAILED = sql`status >= 400`

function statusIn(asked: readonly string[] | undefined): Sql[] {
  if (asked === undefined) return []
  const conditions = asked.map((text) => {
    if (text === 'error') return FAILED
    const first = Number(text.replace('xx', '00'))
    return text.endsWith('xx') ? sql`status >= ${first} AND status < ${first + 100}` : sql`status = ${first}`
  })
  return [...(onlyFailures(asked) ? [FAILED] : []), sql.or(conditions)]
}

/** Returns whether an index contains few rows besides the matching ones. */
export function ledByIndex({ status, q }: LogFilter): boolean {
  return onlyFailures(status) || (q !== undefined && (namesFew(q) || !REQUEST_ID.test(q)))
}

function onlyFailures(asked: readonly string[] | undefined): boolean {
  return asked?.every((text) => text === 'error' || text >= '4') ?? false
}

function found(q: string): Sql {
  // Ids with this prefix sort before the first letter that no id contains, in every collation.
  if (REQUEST_ID.test(q)) return sql`request_id >= ${q} AND request_id < ${`${q}g`}`
  const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  return sql.and([FAILED, sql`LOWER(error_message) LIKE ${pattern} ESCAPE '\\'`])
}

/** Returns whether a prefix matches few rows: the gateway's ids begin with their time, and callers' ids are random. */
function namesFew(q: string): boolean {
  return REQUEST_ID.test(q) && (q.length >= ID_OF_A_MINUTE || !q.startsWith('req_'))
}
