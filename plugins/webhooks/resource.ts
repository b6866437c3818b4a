// `webhooks` of gateway.config.ts.
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { SecretRef } from '../../core/config/secret.ts'
import type { Db, View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ResourceKind } from '../../core/types/resource.ts'
import { type DeclaredWebhook, declaredWebhook, type UrlRules } from './fields.ts'
import { isSecret, newSecret, secretPlace } from './secret.ts'
import type { WebhookFormat } from './service.ts'
import { archiveEndpoint, declaredEndpoints, forgetFailures, insertEndpoint, storeSecret, updateEndpoint } from './store.ts'

/** An endpoint in the file. */
export interface WebhookConfig {
  url: string
  /** None = every event that is on by default. */
  eventTypes?: string[]
  format?: WebhookFormat
  enabled?: boolean
  /** `whsec_` and base64 of 24 to 64 bytes, by reference: `secret.env('OPS_WEBHOOK_SECRET')`. Without it one is made up. */
  secret?: string | SecretRef
  /** Takes over the endpoint of this URL that was made through the API. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    webhooks: Record<string, WebhookConfig>
  }
}

export function webhookResource(gateway: PluginGateway, view: View<unknown>, rules: UrlRules): ResourceKind<DeclaredWebhook> {
  const configuration = gateway.use('configuration')
  const { vault } = gateway
  const now = () => gateway.clock.now()
  const given = (key: string, { secret }: DeclaredWebhook): string | null => {
    if (secret === undefined) return null
    const value = configuration.secret(secret, `webhooks.${key}.secret`)
    if (!isSecret(value)) throw new Error(`webhooks.${key}.secret: must be \`whsec_\` and base64 of 24 to 64 bytes.`)
    return value
  }
  const seal = async (db: Db, id: number, secret: string) => storeSecret(db, id, await vault.seal(secret, secretPlace(id, null)))
  return {
    section: 'webhooks',
    schema: declaredWebhook(rules),
    view,
    nameOf: (_key, { url }) => url,
    // A secret inside a URL is not part of the declaration's text either.
    fingerprint: (key, entry) => vault.mac('declared', JSON.stringify([entry.url, given(key, entry)])),
    rows: async (db) => (await declaredEndpoints(db)).map((row) => resourceRow(row, row.url)),
    insert: async (db, key, entry, declared) => {
      const { id } = await insertEndpoint(db, null, entry, now(), { config_key: key, declared })
      await seal(db, id, given(key, entry) ?? newSecret())
    },
    // A secret that the file does not give stays.
    update: async (db, row, key, entry, declared) => {
      await updateEndpoint(db, null, row.id, entry, now(), { config_key: key, declared })
      await forgetFailures(db, row.id)
      const secret = given(key, entry)
      if (secret !== null) await seal(db, row.id, secret)
    },
    archive: async (db, row) => {
      await archiveEndpoint(db, null, row.id, now())
    },
  }
}
