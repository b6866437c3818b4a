// SQL of the policies that hide the rows of other organizations.
import { createHash } from 'node:crypto'
import type { BelongsTo } from '../../../core/types/ports/db.ts'

/** A role without log-in and without rights besides those on the gateway's tables. It is one per server, as all roles are. */
export const TENANT_ROLE = 'hookgate_tenant'

/** The organization of a transaction; without it, policies bind only the tenant role. */
export const SETTING = 'hookgate.org'

const POLICY = 'hookgate_org_'

export interface Policy {
  /** Contains a hash of the condition, so that a changed one replaces it. */
  readonly name: string
  readonly create: string
}

/** Read once per statement, not once per row. */
const ORG = `(SELECT nullif(current_setting('${SETTING}', true), '')::bigint)`

export function ownPolicy(table: string): Policy {
  return policy(table, `org_id = ${ORG}`)
}

/** The other table has a policy of its own: its rows of other organizations are not found. */
export function belongingPolicy(table: string, { column, table: other, key }: BelongsTo): Policy {
  const found = `SELECT 1 FROM ${quoted(other)} AS other WHERE other.${quoted(key)}::text = ${quoted(table)}.${quoted(column)}::text`
  return policy(table, `EXISTS (${found} AND other.org_id = ${ORG})`)
}

/** For rows whose owner cannot be found. */
export function closedPolicy(table: string): Policy {
  return policy(table, 'false')
}

/** The gateway itself sets no organization, and sees all rows; the tenant role without one sees none. */
function policy(table: string, condition: string): Policy {
  const full = `CASE WHEN ${ORG} IS NULL THEN current_user <> '${TENANT_ROLE}' ELSE ${condition} END`
  const name = POLICY + createHash('sha256').update(full).digest('hex').slice(0, 16)
  return { name, create: `CREATE POLICY ${name} ON ${quoted(table)} USING (${full}) WITH CHECK (${full})` }
}

export function isOurs(policy: string): boolean {
  return policy.startsWith(POLICY)
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
