// Stores invitations as rows. They hold the MAC of the token only.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db } from '../../core/types/ports/db.ts'

export const invitationRow = z.object({
  id: z.number().int(),
  org_id: z.number().int(),
  email: z.string(),
  role: z.enum(['member', 'admin']),
  invited_by: z.string(),
  created_at: z.number().int(),
  expires_at: z.number().int(),
})
export type InvitationRow = z.output<typeof invitationRow>

const COLUMNS = sql`id, org_id, email, role, invited_by, created_at, expires_at`
const OPEN = sql`accepted_at IS NULL AND revoked_at IS NULL`

/** Replaces an earlier invitation of the same address: only the newest letter's link works. */
export async function insertInvitation(db: Db, row: Omit<InvitationRow, 'id'> & { mac: string }): Promise<InvitationRow> {
  await db.run(
    sql`UPDATE organizations_invitations SET revoked_at = ${row.created_at} WHERE org_id = ${row.org_id} AND email = ${row.email} AND ${OPEN}`,
  )
  const made = await db.get(
    sql`INSERT INTO organizations_invitations (org_id, email, role, mac, invited_by, created_at, expires_at)
        VALUES (${row.org_id}, ${row.email}, ${row.role}, ${row.mac}, ${row.invited_by}, ${row.created_at}, ${row.expires_at})
        RETURNING ${COLUMNS}`,
    invitationRow,
  )
  if (made === undefined) throw new Error('The new invitation was not stored.')
  return made
}

export function openInvitations(db: Db, orgId: number, now: number): Promise<InvitationRow[]> {
  return db.all(
    sql`SELECT ${COLUMNS} FROM organizations_invitations WHERE org_id = ${orgId} AND ${OPEN} AND expires_at > ${now} ORDER BY id`,
    invitationRow,
  )
}

/** Returns false when there was nothing to revoke. */
export async function revokeInvitation(db: Db, orgId: number, id: number, now: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE organizations_invitations SET revoked_at = ${now} WHERE id = ${id} AND org_id = ${orgId} AND ${OPEN}`,
  )
  return changes === 1
}

/** Uses the invitation up. undefined: it is unknown, for another address, or no longer open. */
export function takeInvitation(db: Db, mac: string, email: string, now: number): Promise<InvitationRow | undefined> {
  return db.get(
    sql`UPDATE organizations_invitations SET accepted_at = ${now}
        WHERE mac = ${mac} AND email = ${email} AND ${OPEN} AND expires_at > ${now} RETURNING ${COLUMNS}`,
    invitationRow,
  )
}
