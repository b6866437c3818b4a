// A gateway with one OAuth client, against a vendor over real HTTP.
import { expect } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { Step } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import type { Ports } from '../../../core/types/gateway.ts'
import { preset } from '../../../plugins/preset.ts'
import { type FakeOAuth, fakeOAuth } from '../../support/fake-oauth.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of any route
export type Json = Record<string, any>
export type Clock = ReturnType<typeof fakeClock>

export interface Setup {
  readonly t: TestGateway
  readonly vendor: FakeOAuth
  readonly clock: Clock
  readonly upstream: Awaited<ReturnType<typeof scriptedUpstream>>
  call(method: string, path: string, body?: unknown): Promise<{ status: number; json: Json }>
  /** Signs in by pasting the address; returns the account. */
  signIn(): Promise<Json>
  ask(): Promise<Response>
  /** Authorization headers that the upstream got. */
  sent(): string[]
  /** How often this line was logged. */
  logged(message: string): number
  close(): Promise<void>
}

export interface SetupOptions {
  client?: Record<string, unknown>
  secret?: string
  upstream?: Step[]
  env?: Record<string, string>
  ports?: Partial<Ports>
  connections?: GatewayConfig['connections'] & object
}

export async function setup({
  client = {},
  secret,
  upstream: steps = [],
  env = {},
  ports = {},
  connections = {},
}: SetupOptions = {}): Promise<Setup> {
  const vendor = await fakeOAuth({ id: 'client-1', ...(secret === undefined ? {} : { secret }) })
  const upstream = await scriptedUpstream(...steps)
  const clock = fakeClock()
  const messages: string[] = []
  const note = (message: string) => void messages.push(message)
  const log = { debug: note, info: note, warn: note, error: note }
  const clients = {
    acme: {
      name: 'Acme',
      clientId: 'client-1',
      ...(secret === undefined ? {} : { clientSecret: secret }),
      authorizationUrl: `${vendor.url}/authorize`,
      tokenUrl: `${vendor.url}/token`,
      deviceUrl: `${vendor.url}/device`,
      revocationUrl: `${vendor.url}/revoke`,
      scopes: ['inference', 'profile'],
      baseUrl: upstream.baseUrl('chat'),
      wireFormat: 'chat' as const,
      ...client,
    },
  }
  const t = await createTestGateway({
    env,
    config: { connections, plugins: preset({ oauthAccounts: { clients } }) },
    ports: { clock, log, ...ports },
  })
  const call: Setup['call'] = async (method, path, body) => {
    const answer = await t.fetch(path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Json }
  }
  return {
    t,
    vendor,
    clock,
    upstream,
    call,
    async signIn() {
      const begun = await call('POST', '/api/oauth/acme/authorize', { redirect_uri: 'http://127.0.0.1:9/callback' })
      expect(begun.status).toBe(200)
      const { code, state } = vendor.authorize(begun.json.authorize_url)
      const done = await call('POST', '/api/oauth/acme/exchange', {
        callback_url: `http://127.0.0.1:9/callback?code=${code}&state=${state}`,
      })
      expect(done.status, JSON.stringify(done.json)).toBe(201)
      return done.json
    },
    ask: () => t.post('/v1/chat/completions', { model: 'acme/m', messages: [{ role: 'user', content: 'Hi' }] }),
    sent: () => upstream.requests.map(({ headers }) => String(headers.authorization)),
    logged: (message) => messages.filter((one) => one === message).length,
    async close() {
      await t.close()
      await vendor.close()
      await upstream.close()
    },
  }
}
