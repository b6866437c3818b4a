// The dispatch row of a request in flight: written at admission, deleted at settlement. Recovery finds interrupted requests by it.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Statement } from '../../core/types/ports/db.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Hold, Measure } from './service.ts'

const INSERT = `INSERT INTO ledger_dispatch (request_id, boot_id, at, facts, holds) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (request_id) DO NOTHING`
const REMOVE = 'DELETE FROM ledger_dispatch WHERE request_id = ?'
/** Gives a request a row of its own, unless it has one that was swept. */
const PROMOTE = `INSERT INTO ledger_dispatch (request_id, boot_id, at, facts, progress) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (request_id) DO UPDATE SET progress = excluded.progress WHERE ledger_dispatch.swept_at IS NULL`

const text = z.string().nullable()

/** Facts for the row of an interrupted request. They are stored as a list in this order, because they are written for each request. */
const facts = z.object({
  orgId: z.number().nullable(),
  keyId: z.number().nullable(),
  keyLabel: text,
  userId: text,
  sessionId: text,
  costCenter: text,
  source: z.string(),
  operation: z.string(),
  provider: text,
  model: text,
  requestedModel: z.string(),
  virtualModel: text,
  stream: z.boolean(),
  promptBytes: z.number(),
  /** Whether the first target is shared, and whether it is free; absent in traces of earlier versions. */
  shared: z.boolean().optional(),
  free: z.boolean().optional(),
})
const NAMES = Object.keys(facts.shape)
/** The place of `promptBytes` in the list. */
export const PROMPT_BYTES = NAMES.indexOf('promptBytes')

/** @param stored as `knownOf` returns it. */
export function factsIn(stored: unknown): z.output<typeof facts> {
  const list = z.array(z.unknown()).parse(stored)
  return facts.parse(Object.fromEntries(NAMES.map((name, index) => [name, list[index]])))
}

const heldAmount = z.object({
  name: z.string(),
  windowStart: z.number(),
  amountNano: z.number(),
  measure: z.enum(['charge', 'shared_tokens']).optional(),
})
export type HeldAmount = z.output<typeof heldAmount>

const progress = z.object({
  provider: z.string(),
  connectionId: z.string(),
  model: z.string(),
  input: z.number(),
  output: z.number(),
  costNano: z.number().nullable(),
  chargeNano: z.number().nullable(),
})
/** The pump's facts at the last checkpoint. */
export type Progress = z.output<typeof progress>

/** The facts of a request, as they are stored. */
export type Known = readonly (string | number | boolean | null)[]

export function knownOf(ctx: RequestContext, promptBytes: number): Known {
  const { principal, plan } = ctx
  const target = plan?.targets[0]
  const known = [
    principal.orgId,
    principal.keyId,
    principal.label,
    ctx.userId,
    ctx.sessionId,
    ctx.costCenter,
    ctx.source,
    ctx.operation,
    target?.provider ?? null,
    target?.model ?? null,
    ctx.requestedModel,
    ctx.virtualModel,
    ctx.stream,
    promptBytes,
  ]
  if (target?.shared !== undefined) known.push(true, target.shared.free)
  return known
}

export function insertDispatch(bootId: string, ctx: RequestContext, holds: readonly Hold[], promptBytes: number): Statement {
  const held = holds.length === 0 ? null : JSON.stringify(holds.map(amountOf))
  return insertKnown(bootId, ctx.id, ctx.startedAt, knownOf(ctx, promptBytes), held)
}

export function insertKnown(bootId: string, requestId: string, at: number, known: Known, held: string | null): Statement {
  return { sql: { text: INSERT, params: [requestId, bootId, at, JSON.stringify(known), held] } }
}

export function promote(bootId: string, requestId: string, at: number, known: Known, seen: Progress | null): Statement {
  const progress = seen === null ? null : JSON.stringify(seen)
  return { sql: { text: PROMOTE, params: [requestId, bootId, at, JSON.stringify(known), progress] } }
}

function amountOf({ name, windowStart, amountNano, measure }: Hold): HeldAmount {
  return { name, windowStart, amountNano, measure }
}

export function removeDispatch(requestId: string): Statement {
  return { sql: { text: REMOVE, params: [requestId] } }
}

/** Updates a running request. It does not change other rows. */
export function checkpoint(requestId: string, seen: Progress): { sql: Statement['sql'] } {
  return {
    sql: sql`UPDATE ledger_dispatch SET progress = ${JSON.stringify(seen)} WHERE request_id = ${requestId} AND swept_at IS NULL`,
  }
}

const json = <T extends z.ZodType>(schema: T) =>
  z
    .string()
    .nullable()
    .transform((text) => (text === null ? null : (schema.parse(JSON.parse(text)) as z.output<T>)))

const dispatchRow = z.object({
  request_id: z.string(),
  boot_id: z.string(),
  at: z.number().int(),
  facts: z.string().transform((text) => factsIn(JSON.parse(text))),
  holds: json(z.array(heldAmount)),
  progress: json(progress),
})
export type DispatchRow = z.output<typeof dispatchRow>

/** Returns dispatch rows of other boots, by id, after `after`. */
export function strayDispatches(db: Db, bootId: string, after: string, limit: number): Promise<DispatchRow[]> {
  return db.all(
    sql`SELECT request_id, boot_id, at, facts, holds, progress FROM ledger_dispatch
        WHERE request_id > ${after} AND boot_id <> ${bootId} AND swept_at IS NULL ORDER BY request_id LIMIT ${limit}`,
    dispatchRow,
  )
}

/** Returns dispatch rows of this boot that were not swept and began before an instant, oldest first. */
export function ownDispatches(db: Db, bootId: string, before: number, limit: number): Promise<DispatchRow[]> {
  return db.all(
    sql`SELECT request_id, boot_id, at, facts, holds, progress FROM ledger_dispatch
        WHERE boot_id = ${bootId} AND at < ${before} AND swept_at IS NULL ORDER BY request_id LIMIT ${limit}`,
    dispatchRow,
  )
}

/** The amounts that a request spent, one for each measure. */
export type Booked = Readonly<Record<Measure, number>>

/** Returns true for the process that swept it. */
export async function markSwept(tx: Db, requestId: string, booked: Booked, now: number): Promise<boolean> {
  const { changes } = await tx.run(
    sql`UPDATE ledger_dispatch SET swept_at = ${now}, booked_nano = ${booked.charge}, booked_tokens = ${booked.shared_tokens}
        WHERE request_id = ${requestId} AND swept_at IS NULL`,
  )
  return changes === 1
}

/** A settlement after this time is not corrected any more. */
export async function forgetSwept(db: Db, before: number): Promise<void> {
  await db.run(sql`DELETE FROM ledger_dispatch WHERE swept_at < ${before}`)
}
