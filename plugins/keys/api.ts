// /api/keys: list, read, create, update, revoke, rotate. A secret is shown once, when it is created.
import { refuseExclusive, refuseOwnedByFile } from '../../core/config/owned.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { notFound } from '../../core/http/api-routes.ts'
import { deleted, idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { View } from '../../core/types/ports/db.ts'
import { createBody, createdKey, fieldsOf, keyRecord, NO_FIELDS, recordOf } from './fields.ts'
import { keyList, listKeys, listQuery } from './list.ts'
import { newSecret } from './secret.ts'
import { insertKey, type KeyRow, replaceSecret, revokeKey, updateKey } from './store.ts'

export interface KeyRoutes {
  gateway: PluginGateway
  view: View<Map<number, KeyRow>>
  /** Returns the stored form of a new secret. */
  stored(secret: string): { mac: string; last4: string }
  /** Runs other plugins' work for a new key before its secret is returned. */
  created(row: KeyRow): Promise<void>
  maxDays: number | null
}

// GATEWAY_MAX_KEY_DAYS limits the lifetime of a key.
const DAY_MS = 86_400_000

/**
 * Returns the end of a key's life, epoch ms: the requested one, or the limit when none was requested.
 * @throws GatewayError 400 for a time in the past or beyond the limit.
 */
function boundedExpiry(asked: number | null, now: number, maxDays: number | null): number | null {
  const bound = maxDays === null || maxDays === 0 ? null : now + maxDays * DAY_MS
  if (asked === null) return bound
  if (asked <= now) throw GatewayError.invalid('expires_at', '`expires_at` lies in the past.')
  if (bound !== null && asked > bound)
    throw GatewayError.invalid(
      'expires_at',
      `\`expires_at\` is more than ${maxDays} days away, the most that GATEWAY_MAX_KEY_DAYS allows.`,
    )
  return asked
}

export function keyRoutes({ gateway, view, stored, created, maxDays }: KeyRoutes): void {
  const configuration = gateway.use('configuration')
  const now = () => gateway.clock.now()
  const rows = (orgId: number | null) =>
    [...view.current.values()].filter((row) => row.org_id === (orgId ?? 0)).sort((a, b) => a.id - b.id)
  const mine = (orgId: number | null, id: number): KeyRow => {
    const row = view.current.get(id)
    if (row?.org_id !== (orgId ?? 0)) throw notFound(`There is no client key ${id}.`)
    return row
  }

  gateway.api({
    method: 'GET',
    path: '/api/keys',
    summary: 'Client keys, without their secrets, the oldest first.',
    role: 'member',
    query: listQuery,
    response: keyList,
    handler: ({ query, orgId }) => listKeys(rows(orgId), query),
  })

  gateway.api({
    method: 'GET',
    path: '/api/keys/:id',
    summary: 'One client key, without its secret.',
    role: 'member',
    params: idParams,
    response: keyRecord,
    handler: ({ params, orgId }) => recordOf(mine(orgId, params.id)),
  })

  gateway.api({
    method: 'POST',
    path: '/api/keys',
    summary: 'Creates a client key; the secret is in this answer only.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: createdKey,
    audit: 'key.create',
    async handler({ body, orgId, operator }) {
      refuseExclusive('keys', configuration.exclusive)
      const fields = fieldsOf(body, { ...NO_FIELDS, label: 'key' })
      fields.expires_at = boundedExpiry(fields.expires_at, now(), maxDays)
      const key = newSecret()
      const row = await view.write(
        (db) => insertKey(db, orgId, { ...fields, ...stored(key), created_by: operator.userId ?? null }, now()),
        ({ id }) => [id],
      )
      await created(row)
      return { ...recordOf(row), key }
    },
  })

  gateway.api({
    method: 'PATCH',
    path: '/api/keys/:id',
    summary: 'Changes a client key; members that are left out stay, null clears.',
    role: 'manage',
    params: idParams,
    body: createBody,
    response: keyRecord,
    audit: 'key.update',
    async handler({ params, body, orgId }) {
      const before = mine(orgId, params.id)
      refuseOwnedByFile('keys', { managedBy: before.managed_by, configKey: before.config_key })
      const fields = fieldsOf(body, before)
      if (body.expires_at !== undefined) fields.expires_at = boundedExpiry(fields.expires_at, now(), maxDays)
      const row = await view.write(
        (db) => updateKey(db, orgId, params.id, fields, now()),
        () => [params.id],
      )
      if (row === undefined) throw notFound(`There is no client key ${params.id}.`)
      return recordOf(row)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/keys/:id',
    summary: 'Revokes a client key at once.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'key.delete',
    async handler({ params, orgId, audited }) {
      const row = mine(orgId, params.id)
      refuseOwnedByFile('keys', { managedBy: row.managed_by, configKey: row.config_key })
      if (
        !(await view.write(
          (db) => revokeKey(db, orgId, params.id, now()),
          () => [params.id],
        ))
      )
        throw notFound(`There is no client key ${params.id}.`)
      audited(params.id, { label: row.label })
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/keys/:id/rotate',
    summary: 'Gives a client key a new secret, shown once; the old one ends at once.',
    role: 'manage',
    params: idParams,
    response: createdKey,
    audit: 'key.rotate',
    async handler({ params, orgId, audited }) {
      const before = mine(orgId, params.id)
      // A secret that is not from the file is runtime state.
      if (before.declared?.includes('"secret":'))
        refuseOwnedByFile('keys', { managedBy: before.managed_by, configKey: before.config_key })
      const key = newSecret()
      const row = await view.write(
        (db) => replaceSecret(db, orgId, params.id, stored(key), now()),
        () => [params.id],
      )
      if (row === undefined) throw notFound(`There is no client key ${params.id}.`)
      audited(params.id, { label: row.label })
      return { ...recordOf(row), key }
    },
  })
}
