// Samples as rows. A row is written whole, in one statement, with its request and answer sealed; scoring it removes them.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Sql } from '../../core/types/ports/db.ts'
import type { Method } from './service.ts'

/** `queued`: waits for its replay. `running`: until `due_at`; then another process takes it over. */
export const STATES = ['queued', 'running', 'scored', 'failed'] as const

export interface NewSample {
  readonly orgId: number | null
  readonly keyId: number | null
  readonly userId: string | null
  readonly requestId: string
  /** Start of the request, epoch ms. */
  readonly at: number
  readonly virtualModel: string | null
  /** `provider/model`, as is `challenger`. */
  readonly servedModel: string
  readonly servedCostNano: number
  readonly challenger: string
  readonly challengerConnection: string | null
  readonly sealed: string
  readonly expiresAt: number
}

const queued = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  request_id: z.string(),
  challenger: z.string(),
  challenger_connection: z.string().nullable(),
  tries: z.number().int(),
  payload_sealed: z.string(),
})
export type QueuedSample = z.output<typeof queued>

const listed = z.object({
  id: z.number().int(),
  key_id: z.number().int(),
  user_id: z.string().nullable(),
  request_id: z.string(),
  at: z.number(),
  virtual_model: z.string().nullable(),
  served_model: z.string(),
  served_cost_nano: z.number(),
  challenger: z.string(),
  challenger_cost_nano: z.number().nullable(),
  score_cost_nano: z.number().nullable(),
  state: z.enum(STATES),
  score: z.number().nullable(),
  method: z.string().nullable(),
  latency_ms: z.number().nullable(),
  error: z.string().nullable(),
  expires_at: z.number(),
})
export type ListedSample = z.output<typeof listed>

const kept = listed.extend({ payload_sealed: z.string().nullable() })

export interface Ended {
  readonly score: number | null
  readonly method: Method | null
  readonly challengerCostNano: number
  readonly scoreCostNano: number
  readonly latencyMs: number | null
  readonly error: string | null
}

export interface Selection {
  readonly orgId: number | null
  /** 0: calls without a key. */
  readonly keyId?: number | undefined
  readonly userId?: string | undefined
}

/** A running sample belongs to its process for this long: longer than all its calls may take. */
const LEASE_MS = 10 * 60_000
const AT_ONCE = 1000

export function sampleStore(db: Db) {
  const selected = ({ orgId, keyId, userId }: Selection): Sql =>
    sql.and([
      sql`org_id = ${orgId ?? 0}`,
      ...(keyId === undefined ? [] : [sql`key_id = ${keyId}`]),
      ...(userId === undefined ? [] : [sql`user_id = ${userId}`]),
    ])

  return {
    async insert(sample: NewSample): Promise<void> {
      await db.run(
        sql`INSERT INTO shadow_eval_samples (org_id, key_id, user_id, request_id, at, virtual_model, served_model, served_cost_nano,
              challenger, challenger_connection, state, due_at, payload_sealed, expires_at)
            VALUES (${sample.orgId ?? 0}, ${sample.keyId ?? 0}, ${sample.userId}, ${sample.requestId}, ${sample.at}, ${sample.virtualModel},
              ${sample.servedModel}, ${sample.servedCostNano}, ${sample.challenger}, ${sample.challengerConnection}, 'queued', 0,
              ${sample.sealed}, ${sample.expiresAt})
            ON CONFLICT (request_id) DO NOTHING`,
      )
    },
    async waiting(): Promise<number> {
      const found = await db.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM shadow_eval_samples WHERE state = 'queued'`)
      return found?.count ?? 0
    },
    /** Takes the sample that has waited longest. Only one process gets it. */
    async claim(now: number): Promise<QueuedSample | null> {
      for (;;) {
        const next = await db.get<{ id: number; due_at: number }>(
          sql`SELECT id, due_at FROM shadow_eval_samples
              WHERE state IN ('queued', 'running') AND due_at <= ${now} AND expires_at > ${now} ORDER BY due_at, id LIMIT 1`,
        )
        if (next === undefined) return null
        const claimed = await db.get(
          sql`UPDATE shadow_eval_samples SET state = 'running', due_at = ${now + LEASE_MS}, tries = tries + 1
              WHERE id = ${next.id} AND due_at = ${next.due_at} AND state IN ('queued', 'running')
              RETURNING id, org_id, request_id, challenger, challenger_connection, tries, payload_sealed`,
          queued,
        )
        if (claimed !== undefined) return claimed
      }
    },
    async release(id: number, dueAt: number): Promise<void> {
      await db.run(sql`UPDATE shadow_eval_samples SET state = 'queued', due_at = ${dueAt} WHERE id = ${id} AND state = 'running'`)
    },
    async end(id: number, { score, method, challengerCostNano, scoreCostNano, latencyMs, error }: Ended): Promise<void> {
      await db.run(
        sql`UPDATE shadow_eval_samples SET state = ${score === null ? 'failed' : 'scored'}, score = ${score}, method = ${method},
              challenger_cost_nano = ${challengerCostNano}, score_cost_nano = ${scoreCostNano}, latency_ms = ${latencyMs}, error = ${error},
              payload_sealed = NULL
            WHERE id = ${id} AND state = 'running'`,
      )
    },
    /** The newest first, before the row `before`. */
    list(selection: Selection, now: number, limit: number, before: number | null): Promise<ListedSample[]> {
      return db.all(
        sql`SELECT * FROM shadow_eval_samples WHERE ${selected(selection)} AND expires_at > ${now}
            ${before === null ? sql.empty : sql`AND id < ${before}`} ORDER BY id DESC LIMIT ${limit}`,
        listed,
      )
    },
    /** With their sealed texts, for an export. */
    whole(selection: Selection, now: number, limit: number, before: number | null) {
      return db.all(
        sql`SELECT * FROM shadow_eval_samples WHERE ${selected(selection)} AND expires_at > ${now}
            ${before === null ? sql.empty : sql`AND id < ${before}`} ORDER BY id DESC LIMIT ${limit}`,
        kept,
      )
    },
    async remove(selection: Selection): Promise<number> {
      return (await db.run(sql`DELETE FROM shadow_eval_samples WHERE ${selected(selection)}`)).changes
    },
    async prune(now: number): Promise<void> {
      for (let gone = AT_ONCE; gone === AT_ONCE; ) {
        const { changes } = await db.run(
          sql`DELETE FROM shadow_eval_samples WHERE id IN
                (SELECT id FROM shadow_eval_samples WHERE expires_at <= ${now} LIMIT ${AT_ONCE})`,
        )
        gone = changes
      }
    },
  }
}

export type SampleStore = ReturnType<typeof sampleStore>

/** Where a sealed sample stands. */
export function placeOf(requestId: string, orgId: number | null) {
  return { table: 'shadow_eval_samples', id: requestId, column: 'payload_sealed', orgId }
}
