// Exports and imports webhook endpoints. The address of a chat's webhook is a credential, so it is exported with the secrets.
import { createHash } from 'node:crypto'
import type { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import { endpointBodies } from './api/fields.ts'
import { isSecret, newSecret, secretPlace } from './delivery/secret.ts'
import { endpointUrl, type UrlRules } from './resource.ts'
import { activeEndpoints, type EndpointRow, insertEndpoint, storeSecret, updateEndpoint } from './store.ts'

export function portableWebhooks(gateway: PluginGateway, view: View<unknown>, rules: UrlRules) {
  const { vault, clock, db: read } = gateway
  const data = endpointBodies(rules).create.omit({ url: true })
  const address = endpointUrl(rules)
  const place = ({ id, org_id }: EndpointRow) => secretPlace(id, org_id === 0 ? null : org_id)
  const opened = async (row: EndpointRow): Promise<string | null> =>
    row.secret === null ? null : vault.open(row.secret, place(row)).catch(() => null)
  const mine = async (orgId: number | null) => (await activeEndpoints(read)).filter((row) => row.org_id === (orgId ?? 0))
  const nameOf = ({ url }: Pick<EndpointRow, 'url'>) =>
    `${new URL(url).host} ${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
  const kind: PortableKind<z.output<typeof data>> = {
    kind: 'webhooks',
    after: [],
    schema: data,
    secrets: ['url', 'secret'],
    view,
    async rows(orgId) {
      const rows = await mine(orgId)
      return Promise.all(
        rows.map(async (row) => {
          const secret = await opened(row)
          return {
            name: nameOf(row),
            managedBy: row.managed_by,
            needsSecrets: true,
            data: { event_types: [...row.event_types], format: row.format, enabled: row.enabled },
            secrets: { url: row.url, ...(secret === null ? {} : { secret }) },
          }
        }),
      )
    },
    prepare: (orgId) => vault.prepare(orgId),
    async write({ db, orgId, data: { event_types, format, enabled }, secrets, existing }) {
      const before = existing === null ? undefined : (await mine(orgId)).find((row) => nameOf(row) === existing)
      const url = secrets.url ?? before?.url
      const parsed = address.safeParse(url)
      if (!parsed.success)
        throw GatewayError.invalid(
          'url',
          `\`url\`: ${url === undefined ? 'is among the secrets; import with the passphrase' : parsed.error.issues[0]?.message}.`,
        )
      if (secrets.secret !== undefined && !isSecret(secrets.secret))
        throw GatewayError.invalid('secret', '`secret` must be `whsec_` and base64 of 24 to 64 bytes.')
      const fields = { url: parsed.data, eventTypes: [...new Set(event_types)], format, enabled }
      const row = before
        ? await updateEndpoint(db, orgId, before.id, fields, clock.now())
        : await insertEndpoint(db, orgId, fields, clock.now())
      if (row === undefined) return null
      const secret = secrets.secret ?? (before ? null : newSecret())
      if (secret !== null) await storeSecret(db, row.id, await vault.seal(secret, place(row)))
      return null
    },
  }
  return kind
}
