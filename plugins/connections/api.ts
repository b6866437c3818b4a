// /api/providers: manages provider connections. The API accepts secrets and never returns them.
import { z } from 'zod'
import { refuseExclusive, refuseOwnedByFile } from '../../core/config/owned.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Accounts } from './accounts.ts'
import { changeOf, storeChange } from './change.ts'
import type { CheckRules } from './check.ts'
import { connectionRecord, createBody, recordOf, updateBody } from './fields.ts'
import type { OpenConnection, Sealer } from './opened.ts'
import { probeRoute } from './probe.ts'
import { archiveConnection } from './store.ts'

export interface ConnectionRoutes {
  gateway: PluginGateway
  view: View<readonly OpenConnection[]>
  sealer: Sealer
  accounts: Accounts
}

export function connectionRoutes({ gateway, view, sealer, accounts }: ConnectionRoutes): void {
  const configuration = gateway.use('configuration')
  const rules: CheckRules = { configuration, profile: gateway.profile, outbound: gateway.use('outbound') }
  const accountState = gateway.optional('accountState')
  const now = () => gateway.clock.now()
  const all = (orgId: number | null) => view.current.filter(({ row }) => row.org_id === (orgId ?? 0))
  const find = (orgId: number | null, id: number): OpenConnection => {
    const found = all(orgId).find(({ row }) => row.id === id)
    if (found === undefined) throw notFound(`There is no connection ${id}.`)
    return found
  }
  const record = (entry: OpenConnection) => recordOf(entry, accounts.stateOf(entry.connection))
  const shown = (orgId: number | null, id: number) => record(find(orgId, id))
  const owned = ({ row }: OpenConnection) =>
    refuseOwnedByFile('connections', { managedBy: row.managed_by, configKey: row.config_key })

  gateway.api({
    method: 'GET',
    path: '/api/providers',
    summary: 'Provider connections by priority, without their secrets.',
    role: 'member',
    response: z.strictObject({ data: z.array(connectionRecord) }),
    handler: ({ orgId }) => ({ data: all(orgId).map(record) }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/providers',
    summary: 'Adds a connection to a provider of the registry, or with `base_url` and `wire_format` to any other.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: connectionRecord,
    audit: 'provider.create',
    async handler({ body: { provider, ...body }, orgId }) {
      refuseExclusive('connections', configuration.exclusive)
      const change = changeOf(configuration.providerId(provider), body, null, rules)
      await sealer.prepare(orgId)
      const row = await view.write((db) => storeChange(db, orgId, null, change, sealer, now()))
      return shown(orgId, (row as { id: number }).id)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/providers/:id',
    summary: 'One connection.',
    role: 'member',
    params: idParams,
    response: connectionRecord,
    handler: ({ params, orgId }) => shown(orgId, params.id),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/providers/:id',
    summary: 'Changes a connection; members that are left out stay. A new `base_url` needs the key again.',
    role: 'manage',
    params: idParams,
    body: updateBody,
    response: connectionRecord,
    audit: 'provider.update',
    async handler({ params, body, orgId }) {
      const before = find(orgId, params.id)
      owned(before)
      const change = changeOf(before.connection.provider, body, before, rules)
      await sealer.prepare(orgId)
      await view.write((db) => storeChange(db, orgId, params.id, change, sealer, now()))
      // A new key starts with a clear state.
      if (body.api_key !== undefined) accountState()?.clear(String(params.id))
      return shown(orgId, params.id)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/providers/:id',
    summary: 'Removes a connection; running requests finish.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'provider.delete',
    async handler({ params, orgId, audited }) {
      const before = find(orgId, params.id)
      owned(before)
      await view.write((db) => archiveConnection(db, orgId, params.id, now()))
      audited(params.id, { provider: before.connection.provider, label: before.connection.label })
      return { deleted: true as const }
    },
  })

  probeRoute(gateway, find, accounts)
}
