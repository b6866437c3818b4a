// Signs people in with an OpenID Connect identity provider: authorization code with PKCE. It is active in multi-tenant mode with a client
// id and secret.
import { z } from 'zod'
import { guardAddress, parsedAddress } from '../../core/config/addresses.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { isLoopback, issuerCalls } from './calls.ts'
import { issuerAt } from './issuer.ts'
import { migrations } from './migrations.ts'
import { forgetUsed, pendingSignIns } from './pending.ts'
import { oidcRoutes } from './routes.ts'
import type { SignInParts } from './sign-in.ts'

const HOUR_MS = 3_600_000
const GOOGLE = 'https://accounts.google.com'

const text = z.string().nullable().default(null)
const membership = z.strictObject({
  /** Name of the organization. */
  organization: z.string().min(1),
  role: z.enum(['member', 'admin', 'owner']),
})

const options = z.strictObject({
  /** Address of the issuer; null: Google. */
  issuer: text,
  /** Domains whose addresses may sign in; none: all. */
  allowedDomains: z.array(z.string()).default([]),
  scopes: z.array(z.string().regex(/^[!#-[\]-~]+$/)).default(['openid', 'email', 'profile']),
  /** The claim with the groups of a person; dots lead into objects. */
  groupsClaim: z.string().min(1).default('groups'),
  /** Memberships by group; null: groups are not read and memberships stay as they are. */
  groups: z.record(z.string(), membership).nullable().default(null),
  clientId: text.meta({ env: 'IDP_CLIENT_ID' }),
  clientSecret: text.meta({ env: 'IDP_CLIENT_SECRET' }),
  publicUrl: text.meta({ env: 'PUBLIC_URL' }),
  outboundProxy: text.meta({ env: 'OUTBOUND_PROXY' }),
})

export const oidc = definePlugin({
  name: 'oidc',
  requires: ['signIn', 'audit', 'directCalls', 'outbound'],
  config: options,
  variables: {
    IDP_ALLOWED_DOMAINS: { option: 'allowedDomains', about: 'E-mail domains that may sign in with the identity provider.' },
    IDP_ISSUER: {
      option: 'issuer',
      type: 'url',
      about: 'Issuer of the identity provider. Default: https://accounts.google.com.',
    },
  },
  migrations,
  setup(gateway, config) {
    const { db, clock } = gateway
    const publicUrl = config.publicUrl?.replace(/\/+$/, '') ?? null
    const parts = partsOf(gateway, config, publicUrl)
    oidcRoutes({ gateway, audit: gateway.use('audit'), parts, publicUrl })
    if (parts !== null) gateway.every('forget-used', HOUR_MS, () => forgetUsed(db, clock.now()), { once: true })
  },
})

function partsOf(gateway: PluginGateway, config: z.output<typeof options>, publicUrl: string | null): SignInParts | null {
  const { clientId, clientSecret } = config
  const signIn = gateway.use('signIn')
  if (!signIn.idpOnly || clientId === null || clientSecret === null) {
    warnOfHalf(gateway, config, signIn.multiTenant)
    return null
  }
  const issuer = config.issuer ?? GOOGLE
  checkIssuer(gateway, issuer)
  const calls = issuerCalls(gateway.use('directCalls'), config.outboundProxy)
  return {
    gateway,
    calls,
    issuer: issuerAt(issuer, calls, gateway.clock),
    client: { id: clientId, secret: clientSecret },
    scopes: [...new Set(['openid', ...config.scopes])],
    rules: config,
    pending: pendingSignIns(gateway.vault.subkey('oidc-sign-in-v1'), gateway.clock, publicUrl?.startsWith('https:') === true),
    organizations: gateway.optional('organizations'),
    sessions: signIn,
  }
}

/** Without this line an operator learns from the sign-in page that the identity provider is off. */
function warnOfHalf({ log }: PluginGateway, config: z.output<typeof options>, multiTenant: boolean): void {
  const wanted = { GATEWAY_IDP_CLIENT_ID: config.clientId, GATEWAY_IDP_CLIENT_SECRET: config.clientSecret }
  if (config.issuer === null && Object.values(wanted).every((value) => value === null)) return
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value === null ? [name] : []))
  if (!multiTenant) missing.push('GATEWAY_MULTI_TENANT=true')
  log.warn('oidc.incomplete', { hint: `The identity provider is off, and passwords sign in. Missing: ${missing.join(', ')}.` })
}

/** @throws Error naming the variable. */
function checkIssuer({ profile, log, use }: PluginGateway, issuer: string): void {
  const url = parsedAddress(issuer, 'GATEWAY_IDP_ISSUER', /^https?:$/, 'an https URL')
  // The operator chose it, so that an address inside the network is fine; a metadata service is not.
  guardAddress(url, 'GATEWAY_IDP_ISSUER', { profile: 'local', outbound: use('outbound') })
  if (url.protocol === 'https:' || isLoopback(url.hostname)) return
  if (profile === 'cloud') throw new Error('GATEWAY_IDP_ISSUER: must be an https URL.')
  log.warn('oidc.issuer_without_tls', { hint: 'Anyone on the way to the issuer can sign in as anyone. Use https.' })
}

export default oidc
