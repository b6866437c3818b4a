// Schemas of receipts and sums in the API, and of list queries.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import { inOrder, NOT_IN_ORDER } from '../../core/http/window.ts'
import type { Sql } from '../../core/types/ports/db.ts'
import type { Receipt } from './receipt.ts'
import { METHODS } from './service.ts'
import { MODEL_NAME, type Sum } from './sums.ts'

const whole = z.string().regex(/^\d{1,15}$/, 'must be a whole number')
const count = (most: number, usual: number) =>
  whole
    .transform(Number)
    .pipe(z.number().min(1, 'must be at least 1').max(most, `must be at most ${most}`))
    .default(usual)
const instant = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date such as 2027-01-31 or an RFC 3339 time')
  .transform((text) => Date.parse(text))

export const sequence = whole.transform(Number)

export const listQuery = z
  .strictObject({
    since: instant.optional().describe('Of the start of the request.'),
    until: instant.optional().describe('Not included.'),
    source: z
      .string()
      .regex(/^[a-z][a-z0-9_]{0,39}$/, 'must be a source such as exact_cache: lower-case letters, digits and underscores')
      .optional(),
    model: z.string().min(1, 'must not be empty').max(512).optional().describe('`provider/model`, or the model alone.'),
    limit: count(200, 50),
    cursor: sequence.optional().describe('`next_cursor` of the page before.'),
  })
  .refine(inOrder, NOT_IN_ORDER)

const usdPer1m = z.number().optional()

export const receiptRecord = z.strictObject({
  seq: z.int(),
  org_id: z.int().nullable(),
  request_id: z.string(),
  at: z.string(),
  source: z.string(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  key_id: z.int().nullable(),
  virtual_model: z.string().nullable(),
  cost_center: z.string().nullable(),
  user_id: z.string().nullable(),
  usage_source: z.string().describe('`source` of the usage row it belongs to.'),
  tokens_before: z.int(),
  tokens_after: z.int(),
  tokens_saved: z.int(),
  usd_saved: z.number().describe('`usd_saved_nano` in USD; it is not hashed.'),
  usd_saved_nano: z.int().describe('Nano-USD; below 0 where writing into a prompt cache cost more than it saved.'),
  method: z
    .string()
    .describe(`${METHODS.join(', ')}: the provider’s count, the gateway’s, or what another choice would have cost.`),
  details: z.record(z.string(), z.unknown()),
  price_ref: z
    .looseObject({
      source: z.string().optional(),
      ref: z.string().optional(),
      input_per_1m: usdPer1m,
      output_per_1m: usdPer1m,
      cache_read_per_1m: usdPer1m,
      cache_write_per_1m: usdPer1m,
    })
    .nullable()
    .describe('null: no price was known, and nothing is counted as saved.'),
  prev_hash: z.string(),
  hash: z.string(),
})

export const sumAnswer = z.strictObject({ tokens_saved: z.int(), usd_saved: z.number(), receipts: z.int() })

export function recordOf(receipt: Receipt): z.input<typeof receiptRecord> {
  const { org_id, at, details, price_ref, usd_saved_nano, ...rest } = receipt
  return {
    ...rest,
    org_id: org_id === 0 ? null : org_id,
    at: instantOf(at),
    usd_saved: usd_saved_nano / 1e9,
    usd_saved_nano,
    details: jsonOf(details) ?? {},
    price_ref: price_ref === null ? null : jsonOf(price_ref),
  }
}

export function shownSum({ tokensSaved, usdSavedNano, receipts }: Sum): z.input<typeof sumAnswer> {
  return { tokens_saved: tokensSaved, usd_saved: usdSavedNano / 1e9, receipts }
}

/** Returns SQL conditions for the chain of one organization. */
export function conditions(orgId: number | null, query: z.output<typeof listQuery>): Sql {
  const { since, until, source, model, cursor } = query
  return sql.and([
    sql`org_id = ${orgId ?? 0} AND seq IS NOT NULL`,
    ...(since === undefined ? [] : [sql`at >= ${since}`]),
    ...(until === undefined ? [] : [sql`at < ${until}`]),
    ...(source === undefined ? [] : [sql`source = ${source}`]),
    ...(model === undefined ? [] : [sql`(model = ${model} OR ${MODEL_NAME} = ${model})`]),
    ...(cursor === undefined ? [] : [sql`seq < ${cursor}`]),
  ])
}

/** A chain with altered receipts stays readable. */
function jsonOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return { unreadable: true }
  }
}

function instantOf(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at)
}
