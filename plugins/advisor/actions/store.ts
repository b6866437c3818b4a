// Applied actions as rows. The index of open rows lets one action at a time touch an entity, over all replicas.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { ApplyAction, Kind } from '../service.ts'

export const STATES = ['applied', 'confirmed', 'rolled_back'] as const
export type State = (typeof STATES)[number]
export const REASONS = ['manual', 'error_rate', 'latency', 'cost', 'quality'] as const
export type Reason = (typeof REASONS)[number]

/** Figures of the requests that an action concerns. */
export interface Measured {
  readonly requests: number
  readonly errorRate: number
  readonly p95Ms: number | null
  readonly costPerRequestUsd: number | null
}

const json = <T>() => z.string().transform((text) => JSON.parse(text) as T)

const row = z
  .object({
    id: z.number().int(),
    org_id: z.number().int(),
    recommendation_id: z.string(),
    kind: z.string(),
    entity: z.string(),
    action_json: json<ApplyAction>(),
    before_json: json<unknown>(),
    after_json: json<unknown>(),
    baseline_json: json<Measured>(),
    unanswered: z.number().int(),
    state: z.enum(STATES),
    rollback_reason: z.enum(REASONS).nullable(),
    applied_at: z.number().int(),
    probation_until: z.number().int(),
    ended_at: z.number().int().nullable(),
  })
  .transform((stored) => ({
    id: stored.id,
    orgId: stored.org_id === 0 ? null : stored.org_id,
    recommendationId: stored.recommendation_id,
    kind: stored.kind as Kind,
    entity: stored.entity,
    action: stored.action_json,
    before: stored.before_json,
    after: stored.after_json,
    baseline: stored.baseline_json,
    unanswered: stored.unanswered,
    state: stored.state,
    rollbackReason: stored.rollback_reason,
    appliedAt: stored.applied_at,
    probationUntil: stored.probation_until,
    endedAt: stored.ended_at,
  }))
export type Applied = z.output<typeof row>

const MAX_LISTED = 500
const MAX_SHOWN = 20

export async function insertAction(
  db: Db,
  action: Omit<Applied, 'id' | 'state' | 'rollbackReason' | 'endedAt'>,
): Promise<Applied> {
  const stored = await db.get(
    sql`INSERT INTO advisor_actions (org_id, recommendation_id, kind, entity, action_json, before_json, after_json, baseline_json, unanswered, state,
          applied_at, probation_until)
        VALUES (${action.orgId ?? 0}, ${action.recommendationId}, ${action.kind}, ${action.entity}, ${JSON.stringify(action.action)},
          ${JSON.stringify(action.before)}, ${JSON.stringify(action.after)}, ${JSON.stringify(action.baseline)}, ${action.unanswered}, 'applied',
          ${action.appliedAt}, ${action.probationUntil}) RETURNING *`,
    row,
  )
  if (stored === undefined) throw new Error('The action was not stored.')
  return stored
}

export async function removeAction(db: Db, id: number): Promise<void> {
  await db.run(sql`DELETE FROM advisor_actions WHERE id = ${id}`)
}

export function actionsOf(db: Db, orgId: number | null): Promise<Applied[]> {
  return db.all(sql`SELECT * FROM advisor_actions WHERE org_id = ${orgId ?? 0} ORDER BY id DESC LIMIT ${MAX_LISTED}`, row)
}

export function actionOf(db: Db, orgId: number | null, id: number): Promise<Applied | undefined> {
  return db.get(sql`SELECT * FROM advisor_actions WHERE id = ${id} AND org_id = ${orgId ?? 0}`, row)
}

/** Unconfirmed actions of every organization, applied after `since`. */
export function watched(db: Db, since: number): Promise<Applied[]> {
  return db.all(sql`SELECT * FROM advisor_actions WHERE state = 'applied' AND applied_at >= ${since} ORDER BY id`, row)
}

/** Actions that the watch took back. */
export function takenBackSince(db: Db, orgId: number | null, since: number): Promise<Applied[]> {
  return db.all(
    sql`SELECT * FROM advisor_actions WHERE org_id = ${orgId ?? 0} AND state = 'rolled_back' AND rollback_reason <> 'manual'
        AND ended_at >= ${since} ORDER BY id DESC LIMIT ${MAX_SHOWN}`,
    row,
  )
}

/** Only from `applied`. Returns undefined when another process or a person was first. */
export function ended(db: Db, id: number, state: Exclude<State, 'applied'>, reason: Reason | null, now: number) {
  return db.get(
    sql`UPDATE advisor_actions SET state = ${state}, rollback_reason = ${reason}, ended_at = ${now}
        WHERE id = ${id} AND state = 'applied' RETURNING *`,
    row,
  )
}

/** Takes `ended` back when the entity could not be restored. */
export async function reopened(db: Db, id: number): Promise<void> {
  await db.run(sql`UPDATE advisor_actions SET state = 'applied', rollback_reason = NULL, ended_at = NULL WHERE id = ${id}`)
}
