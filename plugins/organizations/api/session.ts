// Routes of the own account: switch organizations, end their sessions, change the password, delete the account.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted } from '../../../core/http/schemas.ts'
import type { People } from '../people.ts'
import { sessionFor } from '../sessions.ts'
import { credentialOf, deleteUser, endSessions, setPassword } from '../users.ts'
import { password, personOf, session } from './schemas.ts'
import { refuseWithoutPasswords } from './sign-up.ts'

export function sessionRoutes(people: People): void {
  const { gateway, signIn, directory } = people

  gateway.api({
    method: 'POST',
    path: '/api/auth/switch',
    summary: 'A new session token for another organization of the caller; null: the gateway itself, for system administrators.',
    role: 'member',
    body: z.strictObject({ org_id: z.int().min(1).nullable() }),
    response: session,
    audit: 'user.switch',
    handler({ body: { org_id }, operator, audited }) {
      const userId = personOf(operator)
      const { users, organizations, membership } = directory()
      const admin = users.get(userId)?.systemAdmin === true
      const open = org_id === null ? admin : organizations.has(org_id) && (admin || membership(userId, org_id) !== undefined)
      if (!open) throw notFound('You are not a member of such an organization.', 'org_id')
      audited(userId)
      return sessionFor(people, userId, org_id, operator.auth === 'oidc' ? 'oidc' : 'password')
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/auth/sessions',
    summary: 'Ends every session of the caller, this one included, on every replica.',
    role: 'member',
    response: z.strictObject({ signed_out: z.literal(true) }),
    audit: 'user.logout_everywhere',
    async handler({ operator, audited }) {
      const userId = personOf(operator)
      await people.write((db) => endSessions(db, userId))
      audited(userId)
      return { signed_out: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/auth/password',
    summary: 'Changes the password. Every other session ends; the answer has a new one.',
    role: 'member',
    body: z.strictObject({ current: z.string().min(1).max(1024), password }),
    response: session,
    audit: 'user.change_password',
    async handler({ body, operator, request, audited }) {
      refuseWithoutPasswords(people)
      const userId = personOf(operator)
      const address = directory().users.get(userId)?.email ?? ''
      const attempt = await signIn.attempts.attempt(address, signIn.addressOf(request.headers))
      const stored = await credentialOf(gateway.db, address)
      if (!(await signIn.passwords.check(body.current, stored?.password_hash ?? null)))
        throw signIn.refused('The current password is wrong.')
      await attempt.succeeded()
      const passwordHash = await signIn.passwords.hash(body.password)
      await people.write(async (db) => {
        await setPassword(db, userId, passwordHash)
        await endSessions(db, userId)
      })
      audited(userId)
      return sessionFor(people, userId, operator.orgId, 'password')
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/auth/me',
    summary: 'Deletes the account of the caller. An owner transfers or deletes the organization first.',
    role: 'member',
    response: deleted,
    // The entry belongs to the gateway, not to the organization of the session.
    audit: false,
    async handler({ operator, peer }) {
      const userId = personOf(operator)
      refuseOwner(people, userId)
      await people.write((db) => deleteUser(db, userId, people.now()))
      await people.record({ orgId: null, actor: operator.actor, action: 'user.delete', target: String(userId), peer })
      return { deleted: true as const }
    },
  })
}

/** @throws GatewayError 409: an organization would be left without its owner. */
export function refuseOwner({ directory }: People, userId: number): void {
  const { membershipsOf, members, organizations } = directory()
  const owned = membershipsOf(userId).find(({ orgId, role }) => role === 'owner' && members(orgId).length > 1)
  if (owned === undefined) return
  throw conflict(
    `This person owns the organization \`${organizations.get(owned.orgId)?.name ?? owned.orgId}\`, which has other members. Transfer or delete it first.`,
    'owns_organization',
  )
}
