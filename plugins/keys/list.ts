// A page of client keys: for GET /api/keys, and for the command line, which reads it without a gateway.
import { z } from 'zod'
import { keyRecord, recordOf } from './fields.ts'
import type { KeyRow } from './store.ts'

/** A page of the most keys is below 1 MiB. */
const MOST = 1000

const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)

export const listQuery = z.strictObject({
  limit: whole.pipe(z.number().min(1, 'must be at least 1').max(MOST, `must be at most ${MOST}`)).default(MOST),
  cursor: whole.optional().describe('`next_cursor` of the page before.'),
  q: z.string().min(1).max(200).optional().describe('Part of the label, the cost center or the end of the secret.'),
})

export const keyList = z.strictObject({
  data: z.array(keyRecord),
  next_cursor: z.string().nullable(),
  total: z.int().describe('Keys that the search finds, on all pages.'),
})

/** @param rows of one organization, by id. */
export function listKeys(rows: readonly KeyRow[], { limit, cursor = 0, q }: z.output<typeof listQuery>): z.input<typeof keyList> {
  const wanted = q?.toLowerCase()
  const found = wanted === undefined ? rows : rows.filter((row) => fits(row, wanted))
  const rest = found.filter(({ id }) => id > cursor)
  const page = rest.slice(0, limit)
  return {
    data: page.map(recordOf),
    next_cursor: rest.length > limit ? String(page.at(-1)?.id) : null,
    total: found.length,
  }
}

function fits({ label, last4, cost_center }: KeyRow, wanted: string): boolean {
  return [label, last4, cost_center ?? ''].some((text) => text.toLowerCase().includes(wanted))
}
