// Members of the organization of the session: list, role, removal, leaving, transfer of ownership.
import { z } from 'zod'
import { conflict, refuseOwnedByFile } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted, idParams } from '../../../core/http/schemas.ts'
import type { People } from '../people.ts'
import type { Membership } from '../service.ts'
import { changeRole, removeMember, transferOwnership } from '../store.ts'
import { normalEmail } from '../users.ts'
import { invitedRole, organizationOf, orgRole, personOf } from './schemas.ts'

const member = z.strictObject({
  user_id: z.int(),
  email: z.string(),
  name: z.string().nullable(),
  role: orgRole,
  email_verified: z.boolean(),
  disabled: z.boolean(),
})

export function memberRoutes(people: People): void {
  const { gateway, directory } = people

  const shown = ({ userId, role }: Membership): z.input<typeof member>[] => {
    const user = directory().users.get(userId)
    if (user === undefined) return []
    const { email, name, emailVerified, disabled } = user
    return [{ user_id: userId, email, name, role, email_verified: emailVerified, disabled }]
  }

  /** @throws GatewayError 404 for a stranger, 409 for the owner and for an administrator that the file names. */
  const changeable = (orgId: number, userId: number): Membership => {
    const found = directory().membership(userId, orgId)
    if (found === undefined) throw notFound(`There is no member ${userId}.`)
    if (found.role === 'owner')
      throw conflict('The owner stays until the ownership is transferred: POST /api/orgs/transfer.', 'is_owner')
    const { rows, users } = directory()
    const org = rows.organizations.get(orgId)
    const address = users.get(userId)?.email
    if (org?.admins.some((email) => normalEmail(email) === address))
      refuseOwnedByFile('organizations', { managedBy: org.managed_by, configKey: org.config_key })
    return found
  }

  gateway.api({
    method: 'GET',
    path: '/api/orgs/members',
    summary: 'The members of the organization.',
    role: 'member',
    response: z.strictObject({ data: z.array(member) }),
    handler: ({ operator }) => ({ data: directory().members(organizationOf(operator)).flatMap(shown) }),
  })

  gateway.api({
    method: 'PATCH',
    path: '/api/orgs/members/:id',
    summary: 'Changes the role of a member, by the number of the user.',
    role: 'manage',
    params: idParams,
    body: z.strictObject({ role: invitedRole }),
    response: member,
    audit: 'member.update',
    async handler({ params, body, operator, audited }) {
      const orgId = organizationOf(operator)
      const before = changeable(orgId, params.id)
      if (!(await people.write((db) => changeRole(db, orgId, params.id, body.role))))
        throw notFound(`There is no member ${params.id}.`)
      audited(params.id, { before: before.role })
      return shown({ ...before, role: body.role })[0] as z.input<typeof member>
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/orgs/members/:id',
    summary: 'Removes a member. Sessions and tokens of that person end here within two seconds.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'member.remove',
    async handler({ params, operator }) {
      const orgId = organizationOf(operator)
      changeable(orgId, params.id)
      if (!(await people.write((db) => removeMember(db, orgId, params.id)))) throw notFound(`There is no member ${params.id}.`)
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/orgs/leave',
    summary: 'Ends the caller’s own membership.',
    role: 'member',
    response: deleted,
    audit: 'member.leave',
    async handler({ operator, audited }) {
      const orgId = organizationOf(operator)
      const userId = personOf(operator)
      changeable(orgId, userId)
      await people.write((db) => removeMember(db, orgId, userId))
      audited(userId)
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/orgs/transfer',
    summary: 'Makes another member the owner. The owner until now becomes an administrator.',
    role: 'owner',
    body: z.strictObject({ user_id: z.int().min(1) }),
    response: member,
    audit: 'org.transfer',
    async handler({ body, operator, audited }) {
      const orgId = organizationOf(operator)
      const found = directory().membership(body.user_id, orgId)
      if (found === undefined) throw notFound(`There is no member ${body.user_id}.`, 'user_id')
      if (directory().users.get(body.user_id)?.disabled)
        throw conflict('The account of this member is disabled.', 'user_disabled')
      await people.write((db) => transferOwnership(db, orgId, body.user_id, people.now()))
      audited(orgId)
      return shown({ ...found, role: 'owner' })[0] as z.input<typeof member>
    },
  })
}
