// Accounts with a personal sign-in: modes, verdicts, and their effect on requests.
import { afterEach, describe, expect, it } from 'vitest'
import { sqliteDatabase } from '../../../adapters/stores/sqlite.ts'
import { fail, type Step, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { sql } from '../../../core/db/sql.ts'
import type { Operator } from '../../../core/types/operator.ts'
import { add, call, MASTER_KEY } from '../connections/support.ts'
import { ask, bearer, makeKey } from '../keys/support.ts'

const ONLY = 'This credential is only authorized for use with Claude Code and cannot be used for other API requests.'

let t: TestGateway
afterEach(() => t.close())

interface Row {
  provider_id: string
  mode: string
  verdict: string
  verdict_source: string
  reason: string | null
  observed_at: string | null
  effective: string
}

const db = () => sqliteDatabase({ path: ':memory:' })
let database: ReturnType<typeof db>

async function start(upstream: Step[] = [], env: Record<string, string> = {}): Promise<void> {
  database = db()
  t = await createTestGateway({ upstream, env, ports: { db: database } })
}

/** Creates a row with another kind of credential, as the sign-in will. */
async function signedIn(provider: string, more: Record<string, unknown> = {}): Promise<number> {
  const address = { base_url: t.upstream.baseUrl('messages'), wire_format: 'messages' }
  const { id } = await add(t, { provider, ...address, api_key: 'oauth-access-token', ...more })
  await database.run(sql`UPDATE connections SET auth_type = 'oauth' WHERE id = ${id}`)
  await call(t, 'PUT', `/api/providers/${id}`, { label: 'signed in' })
  return id
}

const all = async () => ((await (await t.fetch('/api/policy')).json()) as { data: Row[] }).data
const of = async (provider: string) => (await all()).find(({ provider_id }) => provider_id === provider)
const setMode = (provider: string, mode: unknown) => call(t, 'PUT', `/api/policy/${provider}`, { mode })
const send = (provider = 'anthropic', headers: Record<string, string> = {}) =>
  t.post('/v1/chat/completions', ask(`${provider}/claude-sonnet-4-5`), headers)

describe('the verdict', () => {
  it('is unknown of every provider that people sign in with, and others are not there', async () => {
    await start()
    expect((await all()).map(({ provider_id }) => provider_id)).toEqual(['anthropic', 'google', 'openai'])
    expect(await of('anthropic')).toEqual({
      provider_id: 'anthropic',
      mode: 'auto',
      verdict: 'unknown',
      verdict_source: 'builtin',
      reason: null,
      observed_at: null,
      effective: 'allowed',
    })
    await signedIn('acme')
    expect(await of('acme')).toMatchObject({ verdict: 'unknown', effective: 'allowed' })
  })

  it('is ok after an answer, restricted after a refusal, and only a reset takes that back', async () => {
    await start([text('hi'), fail(400, { message: ONLY }), text('again')])
    await signedIn('anthropic')
    expect((await send()).status).toBe(200)
    await expect.poll(async () => (await of('anthropic'))?.verdict).toBe('ok')
    expect(await of('anthropic')).toMatchObject({ verdict_source: 'observed', effective: 'allowed' })

    expect((await send()).status).toBe(400)
    expect(t.upstream.requests).toHaveLength(2)
    // Immediately, stored or not.
    expect((await send()).status).toBe(503)
    expect(t.upstream.requests).toHaveLength(2)
    await expect.poll(async () => (await of('anthropic'))?.verdict).toBe('restricted')
    expect(await of('anthropic')).toMatchObject({
      verdict_source: 'observed',
      reason: ONLY,
      observed_at: expect.stringMatching(/Z$/),
      effective: 'blocked',
    })

    // A later successful request does not unblock it.
    await setMode('anthropic', 'allow')
    expect((await send()).status).toBe(200)
    await setMode('anthropic', 'auto')
    expect(await of('anthropic')).toMatchObject({ verdict: 'restricted', effective: 'blocked' })

    const reset = (body: object) => call(t, 'POST', '/api/policy/reset-verdicts', body)
    expect(await (await reset({ provider_id: 'openai' })).json()).toEqual({ reset: 0 })
    expect(await (await reset({})).json()).toEqual({ reset: 1 })
    expect(await of('anthropic')).toMatchObject({ mode: 'auto', verdict: 'unknown', effective: 'allowed' })
    expect((await send()).status).toBe(200)
  })

  it('of a refusal sends the request to the next account, whatever the status', async () => {
    await start([fail(400, { message: ONLY }), text('by the key')])
    await signedIn('anthropic')
    await add(t, {
      provider: 'anthropic',
      base_url: t.upstream.baseUrl('messages'),
      wire_format: 'messages',
      api_key: 'sk-ant-key',
    })
    expect(await (await send()).text()).toContain('by the key')
    expect(await (await send()).text()).toContain('by the key')
    expect(t.upstream.requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization)).toEqual([
      'Bearer oauth-access-token',
      'sk-ant-key',
      'sk-ant-key',
    ])
  })

  it.each([
    ['with the same words behind others, which may be the caller’s', 400, `messages.0: "${ONLY}" is not a message`],
    ['about something else', 400, 'Your credit card is only authorized.'],
    ['of another class', 500, ONLY],
    ['of a rate', 429, ONLY],
  ])('is not made by a failure %s', async (_name, status, message) => {
    await start([fail(status, { message })])
    await signedIn('anthropic')
    await send()
    await t.untilSettled()
    expect(await of('anthropic')).toMatchObject({ verdict: 'unknown', effective: 'allowed' })
  })

  it('is never made by a connection with a key', async () => {
    await start([fail(403, { message: ONLY }), text('hi')])
    await add(t, { provider: 'anthropic', base_url: t.upstream.baseUrl('messages'), wire_format: 'messages', api_key: 'sk-ant' })
    await send()
    await send()
    expect(await of('anthropic')).toMatchObject({ verdict: 'unknown' })
  })
})

describe('a mode', () => {
  it('`warn` says so on each answer of such an account, and on no other', async () => {
    await start()
    const id = await signedIn('anthropic')
    await setMode('anthropic', 'warn')
    expect((await send()).headers.get('x-gateway-warnings')).toContain('credential_policy')
    await call(t, 'PUT', `/api/providers/${id}`, { enabled: false })
    await add(t, { provider: 'anthropic', base_url: t.upstream.baseUrl('messages'), wire_format: 'messages', api_key: 'sk-ant' })
    expect((await send()).headers.get('x-gateway-warnings') ?? '').not.toContain('credential_policy')
  })

  it('`block` keeps requests from such accounts and says why; keys go on', async () => {
    await start()
    await signedIn('anthropic')
    expect((await setMode('anthropic', 'block')).status).toBe(200)
    expect(await of('anthropic')).toMatchObject({ mode: 'block', verdict: 'unknown', effective: 'blocked' })
    const refused = await send()
    expect(refused.status).toBe(503)
    expect(await refused.text()).toContain('policy_blocked')
    expect(t.upstream.requests).toHaveLength(0)
    await add(t, { provider: 'anthropic', base_url: t.upstream.baseUrl('messages'), wire_format: 'messages', api_key: 'sk-ant' })
    expect((await send()).status).toBe(200)
  })

  it('is by id or alias, one of four, and of a provider that can be signed in with', async () => {
    await start()
    expect((await setMode('gemini', 'block')).status).toBe(200)
    expect(await of('google')).toMatchObject({ mode: 'block' })
    expect((await setMode('openai', 'maybe')).status).toBe(400)
    expect((await setMode('groq', 'block')).status).toBe(404)
    expect((await call(t, 'POST', '/api/policy/reset-verdicts', { provider_id: 'groq' })).status).toBe(404)
    const entries = ((await (await t.fetch('/api/audit')).json()) as { data: { action: string; target: string }[] }).data
    expect(entries.find(({ action }) => action === 'policy.update')).toMatchObject({ target: 'google' })
  })

  it('is set by who administers, and read by any member', async () => {
    await start()
    const as = (role: Operator['role'], method: string, path: string, body?: object) =>
      t.gateway.control.fetch(
        new Request(`http://gateway.test${path}`, {
          method,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
        { address: null, local: true, secure: true, operator: { actor: 'u', orgId: 3, role, readOnly: false, auth: 'token' } },
      )
    expect((await as('member', 'GET', '/api/policy')).status).toBe(200)
    expect((await as('member', 'PUT', '/api/policy/anthropic', { mode: 'allow' })).status).toBe(403)
    expect((await as('member', 'POST', '/api/policy/reset-verdicts', {})).status).toBe(403)
    expect((await as('manage', 'PUT', '/api/policy/anthropic', { mode: 'block' })).status).toBe(200)
    // It applies to all organizations.
    expect(await of('anthropic')).toMatchObject({ mode: 'block' })
  })
})

describe('on the cloud profile', () => {
  it('subscriptions of people are restricted until somebody allows them', async () => {
    database = db()
    const connections = {
      ours: { provider: 'anthropic', baseUrl: 'http://127.0.0.1:9', apiKey: 'oauth-access-token' },
    }
    t = await createTestGateway({
      config: { connections },
      env: { PROFILE: 'cloud', MASTER_KEY },
      ports: { db: database },
    })
    expect(await of('anthropic')).toMatchObject({ verdict: 'restricted', verdict_source: 'builtin', effective: 'blocked' })
    const key = bearer((await makeKey(t)).key)
    const answer = async () => (await send('anthropic', key)).text()
    expect(await answer()).not.toContain('policy_blocked')
    await database.run(sql`UPDATE connections SET auth_type = 'oauth' WHERE config_key = 'ours'`)
    await call(t, 'POST', '/api/providers', { provider: 'ollama' })
    expect(await answer()).toContain('policy_blocked')
    await setMode('anthropic', 'allow')
    expect(await of('anthropic')).toMatchObject({ verdict: 'restricted', effective: 'allowed' })
    expect(await answer()).not.toContain('policy_blocked')
  })
})
