// The section `webhooks` of gateway.config.ts.
import { z } from 'zod'
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { SecretRef } from '../../core/config/secret.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { Db, View } from '../../core/types/ports/db.ts'
import type { OutboundGuard } from '../../core/types/ports/ports.ts'
import { isSecret, newSecret, secretPlace } from './delivery/secret.ts'
import { EVENT_TYPES } from './events/catalog.ts'
import { FORMATS, type WebhookFormat } from './service.ts'
import { archiveEndpoint, declaredEndpoints, forgetFailures, insertEndpoint, storeSecret, updateEndpoint } from './store.ts'

/** An endpoint in the file. */
export interface WebhookConfig {
  url: string
  /** None = every event that is on by default. */
  eventTypes?: string[]
  format?: WebhookFormat
  enabled?: boolean
  /** `whsec_` and base64 of 24 to 64 bytes, by reference: `secret.env('OPS_WEBHOOK_SECRET')`. Without it one is generated. */
  secret?: string | SecretRef
  /** Takes over the endpoint with this URL that the API created. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    webhooks: Record<string, WebhookConfig>
  }
}

// Rules for the URL of an endpoint.
export interface UrlRules {
  readonly profile: 'local' | 'cloud'
  readonly outbound: OutboundGuard
  /** The public address of this gateway: GATEWAY_PUBLIC_URL. */
  readonly publicUrl: string | null
}

export const eventType = z.enum(EVENT_TYPES, {
  error: ({ input }) =>
    `${typeof input === 'string' ? `\`${input.slice(0, 40)}\` is none` : 'must be one'} of ${EVENT_TYPES.join(', ')}`,
})

export const endpointUrl = (rules: UrlRules) =>
  z
    .string()
    .max(2048)
    .superRefine((url, context) => {
      const complaint = urlComplaint(url, rules)
      if (complaint !== null) context.addIssue({ code: 'custom', message: complaint })
    })

/** One entry of the file. The value of a reference is checked when it is resolved. */
const declaredWebhook = (rules: UrlRules) =>
  z.strictObject({
    url: endpointUrl(rules),
    eventTypes: z.array(eventType).max(100).default([]),
    format: z.enum(FORMATS).default('standard'),
    enabled: z.boolean().default(true),
    secret: z.union([z.string(), z.strictObject({ secret: z.enum(['env', 'file']), name: z.string().min(1) })]).optional(),
  })
type DeclaredWebhook = z.output<ReturnType<typeof declaredWebhook>>

/** Internal addresses are never allowed. Host names are checked again at every dial. */
export function urlComplaint(url: string, { profile, outbound, publicUrl }: UrlRules): string | null {
  if (!URL.canParse(url)) return 'is not a URL'
  const { protocol, username, password } = new URL(url)
  if (profile === 'cloud' && protocol !== 'https:') return 'must be an https URL'
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL'
  if (username !== '' || password !== '') return 'must not hold credentials'
  if (publicUrl !== null && hostOf(url) === hostOf(publicUrl)) return 'must not lead to this gateway itself'
  try {
    outbound.check(url, 'url')
    return null
  } catch (error) {
    if (GatewayError.is(error)) return error.message
    throw error
  }
}

function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : null
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
    // A secret that is not from the file stays.
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
