// Finds or creates the person whom an identity provider vouches for, and applies the memberships that its groups map to.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { Peer } from '../../core/types/ports/ports.ts'
import { actorOf } from './accounts.ts'
import type { People } from './people.ts'
import type { ExternalIdentity, OrgRole } from './service.ts'
import { firstOrganization } from './sessions.ts'
import { dropMapped, memberRowsOf, organizationRef, setMember } from './store.ts'
import { forgetPassword, insertIdentity, insertUser, markVerified, normalEmail, userOfIdentity } from './users.ts'

const RANK: Record<OrgRole, number> = { member: 0, admin: 1, owner: 2 }

/** A change by a sign-in, for the audit log. */
interface Change {
  readonly orgId: number | null
  readonly action: 'user.create' | 'member.set' | 'member.remove'
  readonly details: Readonly<Record<string, unknown>>
}

const BY_PROVIDER = { source: 'identity-provider' }

/** @throws GatewayError 403 for a disabled user, and for one whose groups give no organization. */
export async function signedInBy(
  people: People,
  identity: ExternalIdentity,
  peer: Peer,
): Promise<{ userId: number; orgId: number | null }> {
  const email = normalEmail(identity.email)
  const { userId, changes } = await people.write(async (db) => {
    const now = people.now()
    const known = await userOfIdentity(db, identity.issuer, identity.subject)
    const { id, made } = known === null ? await adopted(db, people, email, identity.name, now) : { id: known, made: false }
    if (known === null) await insertIdentity(db, identity.issuer, identity.subject, id, now)
    if (people.directory().users.get(id)?.email === email) await markVerified(db, id, now)
    const created: Change[] = made ? [{ orgId: null, action: 'user.create', details: { email, ...BY_PROVIDER } }] : []
    return { userId: id, changes: [...created, ...(await applyGroups(db, id, identity.memberships, now))] }
  })
  for (const change of changes)
    await people.record({ ...change, actor: actorOf(userId), target: String(userId), details: { ...change.details }, peer })
  const user = people.directory().users.get(userId)
  if (user === undefined || user.disabled)
    throw GatewayError.forbidden('This account is disabled. Ask an administrator of this gateway.')
  const mapped = identity.memberships !== null && !user.systemAdmin
  if (mapped && people.directory().membershipsOf(userId).length === 0)
    throw GatewayError.forbidden(
      'None of your groups gives access to an organization here. Ask an administrator of this gateway.',
    )
  return { userId, orgId: await firstOrganization(people, userId) }
}

/** The identity provider vouches for the address, so an account with it belongs to this person. */
async function adopted(
  db: Db,
  people: People,
  email: string,
  name: string | null,
  now: number,
): Promise<{ id: number; made: boolean }> {
  const existing = people.directory().byEmail.get(email)
  if (existing !== undefined) {
    // A stranger may have signed up with an address that was never verified: the password and the sessions end.
    if (!existing.emailVerified) await forgetPassword(db, existing.id)
    return { id: existing.id, made: false }
  }
  const made = await insertUser(db, { email, name, passwordHash: null, verified: true, systemAdmin: false }, now)
  if (made === undefined) throw new Error('The account was created by another sign-in at the same time. Sign in again.')
  return { id: made.id, made: true }
}

/** Memberships from groups follow the groups; those from invitations stay. */
async function applyGroups(db: Db, userId: number, mapped: ExternalIdentity['memberships'], now: number): Promise<Change[]> {
  if (mapped === null) return []
  const wanted = new Map<number, OrgRole>()
  for (const { organization, role } of mapped) {
    const orgId = await organizationRef(db, organization)
    if (orgId === null) continue
    const before = wanted.get(orgId)
    if (before === undefined || RANK[role] > RANK[before]) wanted.set(orgId, role)
  }
  const changes: Change[] = []
  const rows = await memberRowsOf(db, userId)
  for (const { org_id: orgId, source } of rows) {
    if (source !== 'identity-provider' || wanted.has(orgId)) continue
    await dropMapped(db, orgId, userId)
    changes.push({ orgId, action: 'member.remove', details: BY_PROVIDER })
  }
  for (const [orgId, role] of wanted) {
    const present = rows.find(({ org_id }) => org_id === orgId)
    if (present !== undefined && (present.source !== 'identity-provider' || present.role === role)) continue
    await setMember(db, { orgId, userId, role, source: 'identity-provider' }, now)
    changes.push({ orgId, action: 'member.set', details: { role, ...BY_PROVIDER } })
  }
  return changes
}
