// /api/webhooks/endpoints. Only the answer that creates a signing secret contains it.
import { z } from 'zod'
import { refuseExclusive, refuseOwnedByFile } from '../../../core/config/owned.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted } from '../../../core/http/schemas.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import { recentDeliveries } from '../delivery/recent.ts'
import { hintOf, newSecret, secretPlace } from '../delivery/secret.ts'
import type { UrlRules } from '../resource.ts'
import {
  activeEndpoints,
  archiveEndpoint,
  type EndpointRow,
  findEndpoint,
  forgetFailures,
  insertEndpoint,
  rotateSecret,
  storeSecret,
  updateEndpoint,
} from '../store.ts'
import { endpointBodies, endpointRecord, endpointRecordOf, endpointWithSecret, idParams } from './fields.ts'

/** During this time deliveries carry both signatures. */
const ROTATION_MS = 24 * 3_600_000

interface EndpointSecrets {
  seal(secret: string, row: EndpointRow): Promise<string>
  hint(row: EndpointRow): Promise<string | null>
  /** Returns the new secret. */
  rotate(row: EndpointRow): Promise<string>
}

function endpointSecrets({ vault, clock }: PluginGateway, view: View<unknown>): EndpointSecrets {
  const place = ({ id, org_id }: EndpointRow, column?: 'previous_secret') => secretPlace(id, org_id === 0 ? null : org_id, column)
  const opened = async (row: EndpointRow): Promise<string | null> =>
    row.secret === null ? null : vault.open(row.secret, place(row)).catch(() => null)
  return {
    seal: (secret, row) => vault.seal(secret, place(row)),
    async hint(row) {
      const secret = await opened(row)
      return secret === null ? null : hintOf(secret)
    },
    async rotate(row) {
      const secret = newSecret()
      const [old, now] = [await opened(row), clock.now()]
      await vault.prepare(row.org_id === 0 ? null : row.org_id)
      const sealed = await vault.seal(secret, place(row))
      const previous = old === null ? null : await vault.seal(old, place(row, 'previous_secret'))
      await view.write((tx) =>
        previous === null
          ? storeSecret(tx, row.id, sealed)
          : rotateSecret(tx, row.id, { secret: sealed, previous }, now + ROTATION_MS, now),
      )
      return secret
    },
  }
}

export function endpointRoutes(gateway: PluginGateway, view: View<unknown>, rules: UrlRules): void {
  const { clock, db } = gateway
  const configuration = gateway.use('configuration')
  const secrets = endpointSecrets(gateway, view)
  const bodies = endpointBodies(rules)
  const now = () => clock.now()
  // Reads the row, not the view: failures are written directly to the row.
  const mine = async (orgId: number | null, id: string): Promise<EndpointRow> => {
    const row = await findEndpoint(db, orgId, id)
    if (row === undefined) throw notFound(`There is no webhook endpoint ${id}.`)
    return row
  }
  const shown = async (row: EndpointRow) => {
    const recent = await recentDeliveries(db, row.org_id === 0 ? null : row.org_id, now())
    return endpointRecordOf(row, await secrets.hint(row), recent.get(row.public_id))
  }

  gateway.api({
    method: 'GET',
    path: '/api/webhooks/endpoints',
    summary: 'Webhook endpoints, without their signing secrets.',
    // The address of a chat's webhook is a credential.
    role: 'manage',
    response: z.strictObject({ data: z.array(endpointRecord) }),
    async handler({ orgId }) {
      const rows = (await activeEndpoints(db)).filter((row) => row.org_id === (orgId ?? 0))
      const recent = await recentDeliveries(db, orgId, now())
      return {
        data: await Promise.all(
          rows.map(async (row) => endpointRecordOf(row, await secrets.hint(row), recent.get(row.public_id))),
        ),
      }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/webhooks/endpoints',
    summary: 'Adds an endpoint that events are sent to; its signing secret is in this answer only.',
    role: 'manage',
    status: 201,
    body: bodies.create,
    response: endpointWithSecret,
    audit: 'webhook.create',
    async handler({ body, orgId }) {
      refuseExclusive('webhooks', configuration.exclusive)
      const secret = newSecret()
      await gateway.vault.prepare(orgId)
      const row = await view.write(async (tx) => {
        const made = await insertEndpoint(tx, orgId, fieldsOf(body), now())
        await storeSecret(tx, made.id, await secrets.seal(secret, made))
        return made
      })
      return { ...endpointRecordOf(row, hintOf(secret)), secret }
    },
  })

  gateway.api({
    method: 'PUT',
    path: '/api/webhooks/endpoints/:id',
    summary: 'Changes an endpoint; members that are left out stay. `enabled: true` also forgets its failures.',
    role: 'manage',
    params: idParams,
    body: bodies.update,
    response: endpointRecord,
    audit: 'webhook.update',
    async handler({ params: { id }, body, orgId }) {
      const before = await mine(orgId, id)
      // The file does not declare automatic disabling, so the API can undo it for a file-owned row.
      const revives = before.auto_disabled_at !== null && body.enabled === true && Object.keys(body).length === 1
      if (!revives) refuseOwnedByFile('webhooks', { managedBy: before.managed_by, configKey: before.config_key })
      const fields = fieldsOf({ ...before, ...body })
      await view.write(async (tx) => {
        await updateEndpoint(tx, orgId, before.id, fields, now())
        if (body.enabled === true || fields.url !== before.url) await forgetFailures(tx, before.id)
      })
      return shown(await mine(orgId, id))
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/webhooks/endpoints/:id',
    summary: 'Removes an endpoint; what was waiting for it is given up.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'webhook.delete',
    async handler({ params: { id }, orgId, audited }) {
      const row = await mine(orgId, id)
      refuseOwnedByFile('webhooks', { managedBy: row.managed_by, configKey: row.config_key })
      if (!(await view.write((tx) => archiveEndpoint(tx, orgId, row.id, now()))))
        throw notFound(`There is no webhook endpoint ${id}.`)
      audited(id, { url: row.url })
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/webhooks/endpoints/:id/rotate-secret',
    summary: 'Gives an endpoint a new signing secret, shown once. For 24 hours deliveries are signed with the old one too.',
    role: 'manage',
    params: idParams,
    response: endpointWithSecret,
    audit: 'webhook.rotate_secret',
    async handler({ params: { id }, orgId }) {
      const before = await mine(orgId, id)
      // A secret that is not from the file is runtime state.
      if (before.declared?.includes('"secret":'))
        refuseOwnedByFile('webhooks', { managedBy: before.managed_by, configKey: before.config_key })
      const secret = await secrets.rotate(before)
      return { ...endpointRecordOf(await mine(orgId, id), hintOf(secret)), secret }
    },
  })
}

type Fields = Pick<EndpointRow, 'url' | 'event_types' | 'format' | 'enabled'>

function fieldsOf({ url, event_types, format, enabled }: Fields) {
  return { url, eventTypes: [...new Set(event_types)], format, enabled }
}
