// Issues sessions of people, and chooses the organization that a sign-in starts in.
import type { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { routeRole } from './accounts.ts'
import type { session } from './api/schemas.ts'
import type { People } from './people.ts'
import { insertOrganization, setMember } from './store.ts'

export type SessionAnswer = z.input<typeof session>

/** Returns the oldest membership; null: the gateway itself, for system administrators without one. Others get an organization of their own. */
export async function firstOrganization(people: People, userId: number): Promise<number | null> {
  const { users, membershipsOf } = people.directory()
  const [first] = membershipsOf(userId)
  if (first !== undefined) return first.orgId
  const user = users.get(userId)
  if (user === undefined || user.systemAdmin) return null
  return people.write(async (db) => {
    const { id } = await insertOrganization(db, personalName(user.email, user.name), people.now())
    await setMember(db, { orgId: id, userId, role: 'owner', source: 'sign-up' }, people.now())
    return id
  })
}

export function personalName(email: string, name: string | null): string {
  return name ?? email.slice(0, email.lastIndexOf('@'))
}

/** @throws GatewayError 403 when the person has no access to the organization any more. */
export async function sessionFor(
  people: People,
  userId: number,
  orgId: number | null,
  auth: 'password' | 'oidc',
): Promise<SessionAnswer> {
  const { users, organizations, membership } = people.directory()
  const user = users.get(userId)
  const org = orgId === null ? null : (organizations.get(orgId) ?? null)
  const member = orgId === null ? undefined : membership(userId, orgId)
  if (user === undefined || (!user.systemAdmin && member === undefined))
    throw GatewayError.forbidden('You are not a member of this organization.')
  const { token, expiresAt } = await people.signIn.issue({ userId, orgId }, auth)
  return {
    token,
    token_type: 'Bearer',
    expires_at: new Date(expiresAt).toISOString(),
    user: {
      id: user.id,
      email: user.email,
      name: user.name,
      email_verified: user.emailVerified,
      role: user.systemAdmin ? 'system_admin' : 'user',
    },
    org: org === null ? null : { id: org.id, name: org.name },
    role: user.systemAdmin || member === undefined ? 'system' : routeRole(member.role),
  }
}
