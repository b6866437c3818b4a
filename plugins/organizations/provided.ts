// The service `organizations`.

import { signedInBy } from './identity.ts'
import type { People } from './people.ts'
import type { OrganizationService } from './service.ts'
import { normalEmail } from './users.ts'

export function organizationService(people: People): OrganizationService {
  const { directory, gateway } = people
  const keys = gateway.use('keys')
  return {
    find: (orgId) => directory().organizations.get(orgId),
    all: () => [...directory().organizations.values()],
    user: (userId) => directory().users.get(userId),
    userByEmail: (email) => directory().byEmail.get(normalEmail(email)),
    membership: (userId, orgId) => directory().membership(userId, orgId),
    membershipsOf: (userId) => directory().membershipsOf(userId),
    members: (orgId) => directory().members(orgId),
    emailVerified(orgId, keyId) {
      if (orgId === null) return true
      const { users, members } = directory()
      const maker = keyId === null ? null : (keys.get(orgId, keyId)?.createdBy ?? null)
      const person =
        (maker === null ? undefined : users.get(maker)) ??
        users.get(members(orgId).find(({ role }) => role === 'owner')?.userId ?? 0)
      return person?.emailVerified ?? false
    },
    signedInBy: (identity, peer) => signedInBy(people, identity, peer),
  }
}
