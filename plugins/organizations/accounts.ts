// The rights of a person's session, from memory. Sign-in asks for them on every control-plane call.
import type { Operator } from '../../core/types/operator.ts'
import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Directory } from './directory.ts'
import type { OrgRole } from './service.ts'

export type AccountSource = Parameters<Services['signIn']['accounts']>[0]

const ROLES = { member: 'member', admin: 'manage', owner: 'owner' } as const satisfies Record<OrgRole, Operator['role']>

/** Returns the role on routes that a role in an organization gives. */
export function routeRole(role: OrgRole): Operator['role'] {
  return ROLES[role]
}

/** The name of a person in audit and logs. */
export function actorOf(userId: number): string {
  return `user:${userId}`
}

export function accountSource(directory: () => Directory): AccountSource {
  /** null: no access to this organization. */
  const roleIn = (userId: number, orgId: number | null): Operator['role'] | null => {
    const { users, organizations, membership } = directory()
    const user = users.get(userId)
    if (user === undefined || user.disabled) return null
    if (orgId !== null && !organizations.has(orgId)) return null
    if (user.systemAdmin) return 'system'
    const member = orgId === null ? undefined : membership(userId, orgId)
    return member === undefined ? null : routeRole(member.role)
  }
  return {
    generation: (userId) => directory().rows.users.get(userId)?.generation ?? 0,
    operator({ userId, orgId }, generation, auth) {
      if (directory().rows.users.get(userId)?.generation !== generation) return null
      const role = roleIn(userId, orgId)
      return role === null ? null : { actor: actorOf(userId), orgId, role, readOnly: false, auth, userId }
    },
    role: roleIn,
    profile({ userId, orgId, auth }) {
      const { users, organizations, membershipsOf } = directory()
      const user = userId === undefined ? undefined : users.get(userId)
      const org = orgId === null ? undefined : organizations.get(orgId)
      return {
        user:
          user === undefined
            ? null
            : {
                id: user.id,
                email: user.email,
                name: user.name,
                email_verified: user.emailVerified,
                role: user.systemAdmin ? 'system_admin' : 'user',
              },
        org: org === undefined ? null : { id: org.id, name: org.name },
        orgs:
          user === undefined
            ? []
            : membershipsOf(user.id)
                // A management token passes through the hands of its organization: it says nothing about the others of its maker.
                .filter((membership) => auth !== 'token' || membership.orgId === orgId)
                .map(({ orgId: id, role }) => ({ id, name: organizations.get(id)?.name ?? '', role: routeRole(role) })),
      }
    },
  }
}
