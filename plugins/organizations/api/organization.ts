// The organization of the session: read, rename, delete.
import { z } from 'zod'
import { refuseOwnedByFile } from '../../../core/config/owned.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleteOrganization } from '../deletion.ts'
import type { People } from '../people.ts'
import { type OrgRow, renameOrganization } from '../store.ts'
import { name, organizationOf } from './schemas.ts'

export const organization = z.strictObject({
  id: z.int(),
  name: z.string(),
  suspended: z.boolean(),
  members: z.int(),
  created_at: z.string(),
  managed_by: z.enum(['config', 'api']),
})

export function shownOrganization(people: People, row: OrgRow): z.input<typeof organization> {
  return {
    id: row.id,
    name: row.name,
    suspended: row.suspended_at !== null || row.archived_at !== null,
    members: people.directory().members(row.id).length,
    created_at: new Date(row.created_at).toISOString(),
    managed_by: row.managed_by,
  }
}

/** @throws GatewayError 404 */
export function rowOf({ directory }: People, id: number): OrgRow {
  const row = directory().rows.organizations.get(id)
  if (row === undefined) throw notFound(`There is no organization ${id}.`)
  return row
}

/** @throws GatewayError 409 for an organization of the configuration file. */
export function ownedByApi(row: OrgRow): void {
  // One that the file no longer declares may be deleted.
  if (row.archived_at === null) refuseOwnedByFile('organizations', { managedBy: row.managed_by, configKey: row.config_key })
}

export const deletedOrganization = z.strictObject({
  deleted: z.literal(true),
  export: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('The document of POST /api/export as of now, without secrets; null: no plugin exports.'),
})

/** Deletes an organization after its export. @throws GatewayError 400 when `confirm` is not its name, 409, 404. */
export async function exportedAndDeleted(
  people: People,
  id: number,
  confirm: string,
): Promise<z.input<typeof deletedOrganization>> {
  const row = rowOf(people, id)
  ownedByApi(row)
  if (confirm !== row.name)
    throw GatewayError.invalid('confirm', '`confirm` must be the name of the organization: this cannot be undone.')
  const document = (await people.exported()?.document(id)) ?? null
  if (!(await deleteOrganization(people, id))) throw notFound(`There is no organization ${id}.`)
  return { deleted: true, export: document as Record<string, unknown> | null }
}

export function organizationRoutes(people: People): void {
  const { gateway } = people

  gateway.api({
    method: 'GET',
    path: '/api/orgs/current',
    summary: 'The organization of the session.',
    role: 'member',
    response: organization,
    handler: ({ operator }) => shownOrganization(people, rowOf(people, organizationOf(operator))),
  })

  gateway.api({
    method: 'PATCH',
    path: '/api/orgs/current',
    summary: 'Renames the organization.',
    role: 'manage',
    body: z.strictObject({ name }),
    response: organization,
    audit: 'org.update',
    async handler({ body, operator }) {
      const id = organizationOf(operator)
      ownedByApi(rowOf(people, id))
      await people.write((db) => renameOrganization(db, id, body.name))
      return shownOrganization(people, rowOf(people, id))
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/orgs/current',
    summary: 'Deletes the organization with everything in it, and answers with its export. Its keys end at once.',
    role: 'owner',
    body: z.strictObject({ confirm: z.string().describe('The name of the organization.') }),
    response: deletedOrganization,
    // The entry belongs to the gateway: the organization is gone.
    audit: false,
    async handler({ body, operator, peer }) {
      const id = organizationOf(operator)
      const answer = await exportedAndDeleted(people, id, body.confirm)
      await people.record({
        orgId: null,
        actor: operator.actor,
        action: 'org.delete',
        target: String(id),
        details: { name: body.confirm },
        peer,
      })
      return answer
    },
  })
}
