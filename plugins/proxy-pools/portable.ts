// Exports and imports proxy pools with their assigned connections.
import { z } from 'zod'
import { type AddressRules, checkProxyUrl } from '../../core/config/addresses.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import { createBody } from './fields.ts'
import { type Pool, sealedAt } from './pool.ts'
import { assign, insertPool, storeUrl, updatePool } from './store.ts'

const data = createBody
  .omit({ proxy_url: true })
  .extend({ connections: z.array(z.string().max(1000)).max(10_000).default([]).describe('Names of connections.') })

export function portablePools(
  gateway: PluginGateway,
  view: View<readonly Pool[]>,
  rules: AddressRules,
): PortableKind<z.output<typeof data>> {
  const { vault, clock } = gateway
  const mine = (orgId: number | null) => view.current.filter((pool) => pool.orgId === orgId)
  return {
    kind: 'proxy_pools',
    after: ['connections'],
    schema: data,
    secrets: ['proxy_url'],
    view: view as View<unknown>,
    async rows(orgId, nameOf) {
      return mine(orgId).map(({ row, url, assigned }) => ({
        name: row.name,
        managedBy: 'api' as const,
        needsSecrets: true,
        data: {
          name: row.name,
          no_proxy: row.no_proxy,
          enabled: row.enabled,
          strict: row.strict,
          connections: assigned.map((id) => nameOf('connections', id)).filter((name) => name !== null),
        },
        secrets: (url === null ? {} : { proxy_url: url }) as Record<string, string>,
      }))
    },
    prepare: (orgId) => vault.prepare(orgId),
    async write({ db, orgId, data: { connections, ...fields }, secrets: { proxy_url }, existing, idOf }) {
      const before = existing === null ? undefined : mine(orgId).find(({ row }) => row.name === existing)
      if (proxy_url === undefined && before === undefined)
        throw GatewayError.invalid('proxy_url', '`proxy_url` is among the secrets; import with the passphrase.')
      if (proxy_url !== undefined) checkProxyUrl(proxy_url, 'an http, https or socks5 URL', rules)
      const now = clock.now()
      const id = before?.row.id ?? (await insertPool(db, orgId, fields, now))
      if (before) await updatePool(db, orgId, id, fields, now)
      if (proxy_url !== undefined) await storeUrl(db, orgId, id, await vault.seal(proxy_url, sealedAt(id, orgId)))
      for (const [index, name] of connections.entries()) {
        const connection = await idOf('connections', name)
        if (connection === null) throw GatewayError.invalid(`connections.${index}`, `There is no connection \`${name}\`.`)
        await assign(db, orgId, connection, id)
      }
      return null
    },
  }
}
