// Routes of system administrators about organizations: list, create, suspend, resume, delete.
import { z } from 'zod'
import { conflict } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { idParams } from '../../../core/http/schemas.ts'
import type { People } from '../people.ts'
import { insertOrganization, setMember, setSuspended, transferOwnership } from '../store.ts'
import { deletedOrganization, exportedAndDeleted, organization, ownedByApi, rowOf, shownOrganization } from './organization.ts'
import { email, name, orgRole } from './schemas.ts'

const memberParams = idParams.extend({ user_id: idParams.shape.id })

export function systemRoutes(people: People): void {
  const { gateway, directory } = people

  gateway.api({
    method: 'GET',
    path: '/api/orgs',
    summary: 'Every organization.',
    role: 'system',
    response: z.strictObject({ data: z.array(organization) }),
    handler: () => ({ data: [...directory().rows.organizations.values()].map((row) => shownOrganization(people, row)) }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/orgs',
    summary: 'Creates an organization, with an owner who has an account.',
    role: 'system',
    status: 201,
    body: z.strictObject({ name, owner: email.nullable().default(null).describe('E-mail address of the owner.') }),
    response: organization,
    audit: 'org.create',
    async handler({ body }) {
      const owner = body.owner === null ? null : directory().byEmail.get(body.owner)
      if (owner === undefined) throw notFound('There is no account with this address.', 'owner')
      const row = await people.write(async (db) => {
        const made = await insertOrganization(db, body.name, people.now())
        if (owner !== null)
          await setMember(db, { orgId: made.id, userId: owner.id, role: 'owner', source: 'operator' }, people.now())
        return made
      })
      return shownOrganization(people, row)
    },
  })

  for (const [act, summary, at] of [
    [
      'suspend',
      'Suspends an organization: its keys are refused within two seconds, its people can still sign in and read.',
      true,
    ],
    ['resume', 'Resumes a suspended organization.', false],
  ] as const) {
    gateway.api({
      method: 'POST',
      path: `/api/orgs/:id/${act}`,
      summary,
      role: 'system',
      params: idParams,
      response: organization,
      // The entry belongs to the organization, whose people may read it.
      audit: false,
      async handler({ params, operator, peer }) {
        ownedByApi(rowOf(people, params.id))
        await people.write((db) => setSuspended(db, params.id, at ? people.now() : null))
        await people.record({ orgId: params.id, actor: operator.actor, action: `org.${act}`, target: String(params.id), peer })
        return shownOrganization(people, rowOf(people, params.id))
      },
    })
  }

  gateway.api({
    method: 'PUT',
    path: '/api/orgs/:id/members/:user_id',
    summary: 'Adds a person to an organization without an invitation, or changes the role there.',
    role: 'system',
    params: memberParams,
    body: z.strictObject({ role: orgRole }),
    response: z.strictObject({ org_id: z.int(), user_id: z.int(), role: orgRole }),
    // The entry belongs to the organization, whose people may read it.
    audit: false,
    async handler({ params: { id, user_id }, body: { role }, operator, peer }) {
      rowOf(people, id)
      if (!directory().users.has(user_id)) throw notFound(`There is no user ${user_id}.`)
      const owns = directory().membership(user_id, id)?.role === 'owner'
      if (owns && role !== 'owner')
        throw conflict('This person owns the organization. Make another member the owner first.', 'is_owner')
      await people.write((db) =>
        role === 'owner'
          ? transferOwnership(db, id, user_id, people.now())
          : setMember(db, { orgId: id, userId: user_id, role, source: 'operator' }, people.now()),
      )
      const details = { role }
      await people.record({ orgId: id, actor: operator.actor, action: 'member.set', target: String(user_id), details, peer })
      return { org_id: id, user_id, role }
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/orgs/:id',
    summary: 'Deletes an organization with everything in it, and answers with its export. Its keys end at once.',
    role: 'system',
    params: idParams,
    body: z.strictObject({ confirm: z.string().describe('The name of the organization.') }),
    response: deletedOrganization,
    audit: 'org.delete',
    handler: ({ params, body }) => exportedAndDeleted(people, params.id, body.confirm),
  })
}
