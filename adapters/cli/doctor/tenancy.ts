// Checks how organizations are kept apart: by the statements alone, or by the database as well.
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Surroundings } from '../place.ts'
import { type Finding, ok, warn } from './finding.ts'

const CHECK = 'organizations'

/** Returns no finding in single-user mode. The gateway has built the wall when it was loaded. */
export function checkTenancy({ gateway }: ControlPlane, { env }: Surroundings): Finding[] {
  if (!env.all().some(({ variable, value }) => variable.name === 'MULTI_TENANT' && value === true)) return []
  const { db } = gateway
  const state = db?.wall?.state ?? null
  if (db !== undefined && state === null)
    return [
      warn(
        CHECK,
        `Only conditions in statements keep organizations apart: ${db.kind} cannot hide rows by itself.`,
        'Use PostgreSQL (GATEWAY_DATABASE_URL) where organizations do not trust each other.',
      ),
    ]
  if (state?.by === 'role') return [ok(CHECK, 'PostgreSQL hides the rows of other organizations (row-level security).')]
  if (state?.by === 'owner')
    return [
      ok(CHECK, `PostgreSQL hides the rows of other organizations, without a role of its own. ${state.reason ?? ''}`.trim()),
    ]
  return [
    warn(
      CHECK,
      `Only conditions in statements keep organizations apart. ${state?.reason ?? ''}`.trim(),
      'Give the user of the gateway the role: docs/tenancy.md.',
    ),
  ]
}
