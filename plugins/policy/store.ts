// Stores one row per provider with a mode or an observed verdict. It applies to all organizations.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

export const MODES = ['auto', 'allow', 'warn', 'block'] as const
export type Mode = (typeof MODES)[number]
export type Verdict = 'ok' | 'restricted'

const policyRow = z.object({
  provider_id: z.string(),
  mode: z.enum(MODES),
  verdict: z.enum(['ok', 'restricted']).nullable(),
  reason: z.string().nullable(),
  observed_at: z.number().int().nullable(),
})
export type PolicyRow = z.output<typeof policyRow>

export function allPolicies(db: Db): Promise<PolicyRow[]> {
  return db.all(sql`SELECT provider_id, mode, verdict, reason, observed_at FROM policy ORDER BY provider_id`, policyRow)
}

export async function storeMode(db: Db, providerId: string, mode: Mode): Promise<void> {
  await db.run(
    sql`INSERT INTO policy (provider_id, mode) VALUES (${providerId}, ${mode})
        ON CONFLICT (provider_id) DO UPDATE SET mode = excluded.mode`,
  )
}

/** A restricting verdict stays until a reset; the first verdict of a kind is kept. */
export async function storeVerdict(
  db: Db,
  providerId: string,
  verdict: Verdict,
  reason: string | null,
  now: number,
): Promise<void> {
  await db.run(
    sql`INSERT INTO policy (provider_id, verdict, reason, observed_at) VALUES (${providerId}, ${verdict}, ${reason}, ${now})
        ON CONFLICT (provider_id) DO UPDATE
        SET verdict = excluded.verdict, reason = excluded.reason, observed_at = excluded.observed_at
        WHERE policy.verdict IS NULL OR (policy.verdict = 'ok' AND excluded.verdict = 'restricted')`,
  )
}

/** @param providerId null: of all providers. Returns how many verdicts there were. */
export async function resetVerdicts(db: Db, providerId: string | null): Promise<number> {
  const which = providerId === null ? sql.empty : sql` AND provider_id = ${providerId}`
  const { changes } = await db.run(
    sql`UPDATE policy SET verdict = NULL, reason = NULL, observed_at = NULL WHERE verdict IS NOT NULL${which}`,
  )
  return changes
}
