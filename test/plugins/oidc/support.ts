// A gateway with an identity provider, and a plugin in the place of the one that knows organizations.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import { preset } from '../../../plugins/preset.ts'
import { CLIENT, codeFor, type FakeIssuer } from './fake-issuer.ts'

type OidcOptions = Exclude<NonNullable<Parameters<typeof preset>[0]>['oidc'], false | undefined>

export type Identity = Parameters<Services['organizations']['signedInBy']>[0]

/** Remembers whom the identity provider vouched for. */
export function people(seen: Identity[]) {
  const plugin = definePlugin({
    name: 'people',
    requires: ['signIn'],
    setup(gateway) {
      gateway.use('signIn').accounts({
        generation: () => 0,
        role: () => 'manage',
        profile: () => ({ user: null, org: null, orgs: [] }),
        operator: ({ userId, orgId }, _generation, auth) => ({
          actor: `user:${userId}`,
          orgId,
          role: 'manage',
          readOnly: false,
          auth,
          userId,
        }),
      })
      gateway.provide('organizations', {
        async signedInBy(identity: Identity) {
          seen.push(identity)
          return { userId: 7, orgId: 3 }
        },
      } as unknown as Services['organizations'])
    },
  })
  return plugin()
}

export interface OidcWorld extends TestGateway {
  readonly seen: Identity[]
  start(returnTo?: string, headers?: Record<string, string>): Promise<{ response: Response; location: string; cookie: string }>
  callback(query: Record<string, string>, cookie: string, headers?: Record<string, string>): Promise<Response>
  /** Signs in from start to end. */
  signIn(headers?: Record<string, string>): Promise<Response>
}

/** Every call comes from an address of its own, so that failures of other tests are not counted with it. */
let addresses = 0
const elsewhere = () => ({ 'x-forwarded-for': `203.0.${Math.floor(++addresses / 250) % 250}.${addresses % 250}` })

export async function oidcWorld(
  issuer: FakeIssuer,
  { env, plugins = [], oidc = {}, ...options }: TestGatewayOptions & { oidc?: OidcOptions } = {},
): Promise<OidcWorld> {
  const seen: Identity[] = []
  const t = await createTestGateway({
    ...options,
    config: { ...options.config, plugins: preset({ oidc }).filter(({ name }) => name !== 'organizations') },
    plugins: [people(seen), ...plugins],
    env: {
      MULTI_TENANT: 'true',
      IDP_CLIENT_ID: CLIENT.id,
      IDP_CLIENT_SECRET: CLIENT.secret,
      IDP_ISSUER: issuer.url,
      PUBLIC_URL: 'https://llm.example.com',
      ...env,
    },
  })
  const world: OidcWorld = {
    ...t,
    seen,
    async start(returnTo, headers = {}) {
      const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`
      const response = await t.fetch(`/api/auth/oidc/start${query}`, { headers })
      const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] as string
      return { response, location: response.headers.get('location') ?? '', cookie }
    },
    callback: (query, cookie, headers = {}) =>
      t.fetch(`/api/auth/oidc/callback?${new URLSearchParams(query)}`, { headers: { cookie, ...elsewhere(), ...headers } }),
    async signIn(headers) {
      const { location, cookie } = await world.start()
      return world.callback({ code: codeFor(location), state: stateIn(location) }, cookie, headers)
    },
  }
  return world
}

export function stateIn(location: string): string {
  return new URL(location).searchParams.get('state') ?? ''
}

export const PAGE = { accept: 'text/html,application/xhtml+xml' }
