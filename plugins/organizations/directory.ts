// Organizations, users and memberships in memory, by number and by address. Every replica follows changes within two seconds.
import type { Db } from '../../core/types/ports/db.ts'
import type { Membership, Organization, OrgRole, User } from './service.ts'
import { allMembers, livingOrganizations, type MemberRow, type OrgRow } from './store.ts'
import { livingUsers, normalEmail, type UserRow } from './users.ts'

export interface Rows {
  readonly organizations: readonly OrgRow[]
  readonly users: readonly UserRow[]
  readonly members: readonly MemberRow[]
}

export interface Directory {
  readonly organizations: ReadonlyMap<number, Organization>
  readonly users: ReadonlyMap<number, User>
  readonly byEmail: ReadonlyMap<string, User>
  readonly rows: { readonly organizations: ReadonlyMap<number, OrgRow>; readonly users: ReadonlyMap<number, UserRow> }
  membership(userId: number, orgId: number): Membership | undefined
  /** In the order of joining. */
  membershipsOf(userId: number): readonly Membership[]
  members(orgId: number): readonly Membership[]
}

export interface DirectoryRules {
  /** In lower case. */
  readonly adminEmails: ReadonlySet<string>
  /** True: an address counts as an administrator's only when its owner has verified it. */
  verificationNeeded(): boolean
}

export async function loadRows(db: Db): Promise<Rows> {
  const [organizations, users, members] = [await livingOrganizations(db), await livingUsers(db), await allMembers(db)]
  return { organizations, users, members }
}

export function directoryOf(rows: Rows, { adminEmails, verificationNeeded }: DirectoryRules): Directory {
  const mustVerify = verificationNeeded()
  const trusted = (user: UserRow): boolean => !mustVerify || user.email_verified_at !== null
  const users = new Map<number, User>()
  const byEmail = new Map<string, User>()
  for (const row of rows.users) {
    const user: User = {
      id: row.id,
      email: row.email,
      name: row.name,
      emailVerified: row.email_verified_at !== null,
      systemAdmin: row.system_admin || (adminEmails.has(row.email) && trusted(row)),
      disabled: row.disabled_at !== null,
    }
    users.set(row.id, user)
    byEmail.set(row.email, user)
  }
  const userRows = new Map(rows.users.map((row) => [row.id, row]))
  const orgRows = new Map(rows.organizations.map((row) => [row.id, row]))
  const organizations = new Map<number, Organization>()
  for (const { id, name, suspended_at, archived_at } of rows.organizations)
    organizations.set(id, { id, name, suspended: suspended_at !== null || archived_at !== null })

  const ofUser = new Map<number, Map<number, Membership>>()
  const ofOrg = new Map<number, Map<number, Membership>>()
  const add = (orgId: number, userId: number, role: OrgRole): void => {
    if (!organizations.has(orgId) || !users.has(userId)) return
    const membership: Membership = { orgId, userId, role }
    entry(ofUser, userId).set(orgId, membership)
    entry(ofOrg, orgId).set(userId, membership)
  }
  for (const { org_id, user_id, role } of rows.members) add(org_id, user_id, role)
  // The configuration file names these by address. An owner stays one.
  for (const { id, admins, archived_at } of rows.organizations) {
    if (archived_at !== null) continue
    for (const email of admins) {
      const user = byEmail.get(normalEmail(email))
      const row = user && userRows.get(user.id)
      if (row === undefined || !trusted(row)) continue
      if (ofOrg.get(id)?.get(row.id)?.role !== 'owner') add(id, row.id, 'admin')
    }
  }
  return {
    organizations,
    users,
    byEmail,
    rows: { organizations: orgRows, users: userRows },
    membership: (userId, orgId) => ofUser.get(userId)?.get(orgId),
    membershipsOf: (userId) => [...(ofUser.get(userId)?.values() ?? [])],
    members: (orgId) => [...(ofOrg.get(orgId)?.values() ?? [])],
  }
}

function entry(map: Map<number, Map<number, Membership>>, id: number): Map<number, Membership> {
  const found = map.get(id) ?? new Map<number, Membership>()
  map.set(id, found)
  return found
}
