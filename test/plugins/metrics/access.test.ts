// Access to /metrics: every configuration with every credential.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { metrics } from '../../../plugins/metrics/index.ts'
import { bearer, cheapHash, errorOf, openGateway } from '../sign-in/support.ts'

const HOST = { actor: 'cli', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const

interface Credentials {
  none: null
  session: string
  token: string
  key: string
}

/** Created as by the command line, so that every configuration has all of them. */
async function credentials(t: TestGateway, password: boolean): Promise<Record<string, string | null>> {
  const host = async (path: string, body: object): Promise<Record<string, string>> => {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const peer = { address: null, local: true, secure: true, operator: HOST }
    return (await (await t.gateway.control.fetch(new Request(`http://gateway.test${path}`, init), peer)).json()) as Record<
      string,
      string
    >
  }
  const login = password ? { password: 'correct horse battery staple' } : {}
  return {
    none: null,
    session: (await host('/api/login', login)).token ?? 'no session with tenants',
    token: (await host('/api/tokens', { scope: 'read' })).token as string,
    key: (await host('/api/keys', {})).key as string,
    'a revoked key': 'gw_0000000000000000000000000000000000000000000abcd',
    nonsense: 'nonsense',
  }
}

type Expected = Record<keyof Credentials | 'a revoked key' | 'nonsense', number>
const HARD: Expected = { none: 401, session: 200, token: 200, key: 200, 'a revoked key': 401, nonsense: 401 }
const OPEN: Expected = { none: 200, session: 200, token: 200, key: 200, 'a revoked key': 200, nonsense: 200 }
const CONFIGURATIONS: [string, Record<string, string>, Expected][] = [
  ['nothing is hardened', {}, OPEN],
  ['client keys are required', { REQUIRE_API_KEY: 'true' }, HARD],
  ['a password is set', { DASHBOARD_PASSWORD_HASH: await cheapHash() }, HARD],
  ['there are tenants', { MULTI_TENANT: 'true' }, { ...HARD, session: 401 }],
  ['only operators may', { METRICS_REQUIRE_OPERATOR: 'true' }, { ...HARD, key: 403 }],
  [
    'only operators may, and all else is hardened',
    { METRICS_REQUIRE_OPERATOR: 'true', REQUIRE_API_KEY: 'true', DASHBOARD_PASSWORD_HASH: await cheapHash() },
    { ...HARD, key: 403 },
  ],
]

describe.each(CONFIGURATIONS)('/metrics when %s', (_, env, expected) => {
  it('answers each credential as it should, as Bearer and as X-Api-Key, from near and far', async () => {
    const t = await openGateway({ env })
    for (const [name, credential] of Object.entries(await credentials(t, 'DASHBOARD_PASSWORD_HASH' in env))) {
      const ways: Record<string, string>[] =
        credential === null
          ? [{}]
          : [bearer(credential), { 'x-api-key': credential }, { ...bearer('junk'), 'x-api-key': credential }]
      for (const headers of ways)
        for (const local of [true, false]) {
          const request = new Request('http://gateway.test/metrics', { headers })
          const response = await t.gateway.fetch(request, { address: '192.0.2.1', local })
          expect(response.status, `${name} ${Object.keys(headers)} ${local}`).toBe(expected[name as keyof Expected])
          if (response.status === 200) expect(await response.text()).toContain('gateway_requests_in_flight')
          else if (response.status === 403) expect(await errorOf(response)).toMatchObject({ type: 'permission_error' })
          else {
            expect(response.headers.get('www-authenticate')).toBe('Bearer')
            expect(await errorOf(response)).toMatchObject({ type: 'authentication_error', code: 'invalid_credentials' })
          }
        }
    }
    await t.close()
  })
})

describe('/metrics', () => {
  it('takes no credential from the query', async () => {
    const t = await openGateway({ env: { REQUIRE_API_KEY: 'true' } })
    const { key } = (await (await t.post('/api/keys', {})).json()) as { key: string }
    expect((await t.fetch(`/metrics?key=${key}`)).status).toBe(401)
    expect((await t.fetch('/metrics', { method: 'HEAD' })).status).toBe(401)
    expect((await t.fetch('/metrics', { method: 'HEAD', headers: bearer(key) })).status).toBe(200)
    await t.close()
  })

  it('refuses a key that expired and one that was revoked', async () => {
    const clock = fakeClock()
    const t = await openGateway({ env: { REQUIRE_API_KEY: 'true' }, ports: { clock } })
    const made = async (body: object) => (await (await t.post('/api/keys', body)).json()) as { id: number; key: string }
    const short = await made({ expires_at: new Date(clock.now() + 1000).toISOString() })
    const gone = await made({})
    const status = async (key: string) => (await t.fetch('/metrics', { headers: bearer(key) })).status
    expect([await status(short.key), await status(gone.key)]).toEqual([200, 200])
    await clock.advance(1000)
    await t.fetch(`/api/keys/${gone.id}`, { method: 'DELETE' })
    expect([await status(short.key), await status(gone.key)]).toEqual([401, 401])
    await t.close()
  })

  it('works in a list of plugins without keys and sign-in: open, or closed to all', async () => {
    for (const [env, status] of [
      [{}, 200],
      [{ REQUIRE_API_KEY: 'true' }, 401],
      [{ METRICS_REQUIRE_OPERATOR: 'true' }, 401],
    ] as const) {
      const t = await createTestGateway({ config: { plugins: [metrics()], connections: {} }, env })
      expect((await t.fetch('/metrics')).status).toBe(status)
      expect((await t.fetch('/metrics', { headers: bearer('gw_x') })).status).toBe(status)
      await t.close()
    }
  })

  it('asks the sign-in of the configuration as it is after a reload', async () => {
    const t = await openGateway()
    expect((await t.fetch('/metrics')).status).toBe(200)
    const { signIn } = await import('../../../plugins/sign-in/index.ts')
    const { audit } = await import('../../../plugins/audit/index.ts')
    const { keys } = await import('../../../plugins/keys/index.ts')
    const secured = signIn({ passwordHash: await cheapHash() })
    await t.gateway.reload({ plugins: [keys(), audit(), secured, metrics()] })
    expect((await t.fetch('/metrics')).status).toBe(401)
    await t.gateway.reload({ plugins: [keys(), audit(), signIn(), metrics()] })
    expect((await t.fetch('/metrics')).status).toBe(200)
    await t.close()
  })
})
