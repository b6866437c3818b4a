// Stores organizations and memberships as rows.
import { z } from 'zod'
import { type Declaration, ownership } from '../../core/config/owned-rows.ts'
import { sql } from '../../core/db/sql.ts'
import { jsonColumn } from '../../core/schema/json-column.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { OrgRole } from './service.ts'

const nullableInt = z.number().int().nullable()

export const orgRow = z.object({
  id: z.number().int(),
  name: z.string(),
  suspended_at: nullableInt,
  created_at: z.number().int(),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable(),
  declared: z.string().nullable(),
  admins: jsonColumn(z.array(z.string())),
  archived_at: nullableInt,
  /** Values that the file gives it, by dotted key. */
  settings: z
    .string()
    .transform((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
    .nullable(),
})
export type OrgRow = z.output<typeof orgRow>

export const memberRow = z.object({
  org_id: z.number().int(),
  user_id: z.number().int(),
  role: z.enum(['member', 'admin', 'owner']),
  source: z.enum(['invitation', 'sign-up', 'identity-provider', 'operator']),
  created_at: z.number().int(),
})
export type MemberRow = z.output<typeof memberRow>
export type MemberSource = MemberRow['source']

const COLUMNS = sql`id, name, suspended_at, created_at, managed_by, config_key, declared, admins, archived_at, settings`

export function livingOrganizations(db: Db): Promise<OrgRow[]> {
  return db.all(sql`SELECT ${COLUMNS} FROM organizations WHERE deleted_at IS NULL ORDER BY id`, orgRow)
}

export function allMembers(db: Db): Promise<MemberRow[]> {
  return db.all(sql`SELECT * FROM organizations_members ORDER BY created_at, org_id`, memberRow)
}

export async function insertOrganization(db: Db, name: string, now: number, declared?: Declaration): Promise<OrgRow> {
  const row = await db.get(
    sql`INSERT INTO organizations (name, created_at, managed_by, config_key, declared)
        VALUES (${name}, ${now}, ${declared === undefined ? 'api' : 'config'}, ${declared?.config_key ?? null}, ${declared?.declared ?? null})
        RETURNING ${COLUMNS}`,
    orgRow,
  )
  if (row === undefined) throw new Error('The new organization was not stored.')
  return row
}

export async function renameOrganization(db: Db, id: number, name: string): Promise<void> {
  await db.run(sql`UPDATE organizations SET name = ${name} WHERE id = ${id} AND deleted_at IS NULL`)
}

export async function setSuspended(db: Db, id: number, at: number | null): Promise<void> {
  await db.run(sql`UPDATE organizations SET suspended_at = ${at} WHERE id = ${id} AND deleted_at IS NULL`)
}

interface DeclaredOrganization {
  readonly name: string
  readonly admins: readonly string[]
  readonly suspendedAt: number | null
  readonly settings: Readonly<Record<string, unknown>> | null
}

/** The file declares the organization, also again. */
export async function declareOrganization(
  db: Db,
  id: number,
  { name, admins, suspendedAt, settings }: DeclaredOrganization,
  declaration: Declaration,
): Promise<void> {
  await db.run(
    sql`UPDATE organizations SET ${ownership(declaration)} name = ${name}, admins = ${JSON.stringify(admins)}, suspended_at = ${suspendedAt},
          settings = ${settings === null ? null : JSON.stringify(settings)}
        WHERE id = ${id} AND deleted_at IS NULL`,
  )
}

export async function archiveOrganization(db: Db, id: number, now: number): Promise<void> {
  await db.run(sql`UPDATE organizations SET archived_at = ${now} WHERE id = ${id}`)
}

/** Adds the member or changes the role. */
export async function setMember(
  db: Db,
  member: { orgId: number; userId: number; role: OrgRole; source: MemberSource },
  now: number,
): Promise<void> {
  await db.run(
    sql`INSERT INTO organizations_members (org_id, user_id, role, source, created_at)
        VALUES (${member.orgId}, ${member.userId}, ${member.role}, ${member.source}, ${now})
        ON CONFLICT (org_id, user_id) DO UPDATE SET role = excluded.role`,
  )
}

/** Returns false when there is no such member, or it is the owner. */
export async function removeMember(db: Db, orgId: number, userId: number): Promise<boolean> {
  const { changes } = await db.run(
    sql`DELETE FROM organizations_members WHERE org_id = ${orgId} AND user_id = ${userId} AND role <> 'owner'`,
  )
  return changes === 1
}

/** Removes a membership that groups gave, also an owner's. */
export async function dropMapped(db: Db, orgId: number, userId: number): Promise<void> {
  await db.run(
    sql`DELETE FROM organizations_members WHERE org_id = ${orgId} AND user_id = ${userId} AND source = 'identity-provider'`,
  )
}

export function memberRowsOf(db: Db, userId: number): Promise<MemberRow[]> {
  return db.all(sql`SELECT * FROM organizations_members WHERE user_id = ${userId}`, memberRow)
}

const numbered = z.object({ id: z.number().int() })

/**
 * Finds an organization by its key in the configuration file or by its number. Never by its name: anyone who signs up can choose a name.
 */
export async function organizationRef(db: Db, text: string): Promise<number | null> {
  const id = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0
  const row = await db.get(
    sql`SELECT id FROM organizations WHERE (config_key = ${text} OR id = ${id}) AND deleted_at IS NULL ORDER BY config_key IS NULL LIMIT 1`,
    numbered,
  )
  return row?.id ?? null
}

/** Returns false when there is no such member, or it is the owner. */
export async function changeRole(db: Db, orgId: number, userId: number, role: OrgRole): Promise<boolean> {
  const { changes } = await db.run(
    sql`UPDATE organizations_members SET role = ${role} WHERE org_id = ${orgId} AND user_id = ${userId} AND role <> 'owner'`,
  )
  return changes === 1
}

/** Makes the member the only owner. */
export async function transferOwnership(db: Db, orgId: number, userId: number, now: number): Promise<void> {
  await db.run(sql`UPDATE organizations_members SET role = 'admin' WHERE org_id = ${orgId} AND role = 'owner'`)
  await setMember(db, { orgId, userId, role: 'owner', source: 'operator' }, now)
}
