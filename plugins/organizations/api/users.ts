// Routes of system administrators about accounts: list, create, disable, enable, make an administrator, delete.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted, idParams } from '../../../core/http/schemas.ts'
import type { People } from '../people.ts'
import { setMember } from '../store.ts'
import { deleteUser, insertUser, setDisabled, setSystemAdmin } from '../users.ts'
import { email, name, orgRole, password } from './schemas.ts'
import { refuseOwner } from './session.ts'

const user = z.strictObject({
  id: z.int(),
  email: z.string(),
  name: z.string().nullable(),
  email_verified: z.boolean(),
  system_admin: z.boolean(),
  disabled: z.boolean(),
  created_at: z.string(),
  orgs: z.array(z.strictObject({ id: z.int(), name: z.string(), role: orgRole })),
})

export function userRoutes(people: People): void {
  const { gateway, directory } = people

  /** @throws GatewayError 404 */
  const shown = (id: number): z.input<typeof user> => {
    const { users, rows, membershipsOf, organizations } = directory()
    const found = users.get(id)
    const row = rows.users.get(id)
    if (found === undefined || row === undefined) throw notFound(`There is no user ${id}.`)
    return {
      id,
      email: found.email,
      name: found.name,
      email_verified: found.emailVerified,
      system_admin: found.systemAdmin,
      disabled: found.disabled,
      created_at: new Date(row.created_at).toISOString(),
      orgs: membershipsOf(id).map(({ orgId, role }) => ({ id: orgId, name: organizations.get(orgId)?.name ?? '', role })),
    }
  }

  gateway.api({
    method: 'GET',
    path: '/api/users',
    summary: 'Every account.',
    role: 'system',
    response: z.strictObject({ data: z.array(user) }),
    handler: () => ({ data: [...directory().users.keys()].map(shown) }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/users',
    summary: 'Creates an account with a verified address, without a letter.',
    role: 'system',
    status: 201,
    body: z.strictObject({
      email,
      password: password
        .nullable()
        .default(null)
        .describe('null: the person asks for a new password, or signs in with the identity provider.'),
      name: name.nullable().default(null),
      system_admin: z.boolean().default(false),
      org_id: z.int().min(1).nullable().default(null),
      role: orgRole.default('member').describe('The role in `org_id`.'),
    }),
    response: user,
    // The entry belongs to the gateway, and its details have no password.
    audit: false,
    async handler({ body, operator, peer }) {
      if (body.org_id !== null && !directory().organizations.has(body.org_id))
        throw notFound(`There is no organization ${body.org_id}.`, 'org_id')
      const passwordHash = body.password === null ? null : await people.signIn.passwords.hash(body.password)
      const made = await people.write(async (db) => {
        const now = people.now()
        const row = await insertUser(
          db,
          { email: body.email, name: body.name, passwordHash, verified: true, systemAdmin: body.system_admin },
          now,
        )
        if (row !== undefined && body.org_id !== null)
          await setMember(db, { orgId: body.org_id, userId: row.id, role: body.role, source: 'operator' }, now)
        return row
      })
      if (made === undefined) throw conflict('There is an account with this address.', 'already_exists')
      await people.record({
        orgId: null,
        actor: operator.actor,
        action: 'user.create',
        target: String(made.id),
        details: { email: body.email, system_admin: body.system_admin, organization: body.org_id },
        peer,
      })
      return shown(made.id)
    },
  })

  gateway.api({
    method: 'PATCH',
    path: '/api/users/:id',
    summary: 'Disables or enables an account, or makes it a system administrator. Its sessions follow within two seconds.',
    role: 'system',
    params: idParams,
    body: z.strictObject({ disabled: z.boolean().optional(), system_admin: z.boolean().optional() }),
    response: user,
    audit: 'user.update',
    async handler({ params, body, operator }) {
      shown(params.id)
      const lesser = body.disabled === true || body.system_admin === false
      if (lesser && operator.userId === params.id)
        throw conflict('You cannot take your own rights away. Another system administrator can.', 'own_account')
      await people.write(async (db) => {
        if (body.disabled !== undefined) await setDisabled(db, params.id, body.disabled ? people.now() : null)
        if (body.system_admin !== undefined) await setSystemAdmin(db, params.id, body.system_admin)
      })
      return shown(params.id)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/users/:id',
    summary: 'Deletes an account and what identifies its person.',
    role: 'system',
    params: idParams,
    response: deleted,
    audit: 'user.delete',
    async handler({ params, operator }) {
      shown(params.id)
      if (operator.userId === params.id) throw conflict('Delete your own account with DELETE /api/auth/me.', 'own_account')
      refuseOwner(people, params.id)
      await people.write((db) => deleteUser(db, params.id, people.now()))
      return { deleted: true as const }
    },
  })
}
