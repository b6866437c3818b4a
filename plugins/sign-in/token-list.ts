// The list of management tokens: for GET /api/tokens, and for the command line, which reads it without a gateway.
import { z } from 'zod'
import type { Db } from '../../core/types/ports/db.ts'
import { type TokenRow, tokensOf } from './store.ts'

export const tokenScope = z.enum(['manage', 'read'])

export const tokenRecord = z.strictObject({
  id: z.int(),
  label: z.string(),
  token_hint: z.string().describe('The last characters of the token.'),
  scope: tokenScope.describe('`read`: GET only.'),
  org_id: z.int().nullable(),
  created_by: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe('To the minute.'),
})

export async function listTokens(db: Db, orgId: number | null): Promise<{ data: z.input<typeof tokenRecord>[] }> {
  return { data: (await tokensOf(db, orgId)).map(recordOf) }
}

export function recordOf(row: TokenRow): z.input<typeof tokenRecord> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString())
  return {
    id: row.id,
    label: row.label,
    token_hint: `…${row.last4}`,
    scope: row.scope,
    org_id: row.org_id === 0 ? null : row.org_id,
    created_by: row.created_by,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: time(row.expires_at),
    last_used_at: time(row.last_used_at),
  }
}
