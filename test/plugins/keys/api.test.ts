// /api/keys: the secret is shown once, and errors name the field.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, bearer, errorOf, gatewayWithKeys, makeKey } from './support.ts'

const DAY = 86_400_000

describe('/api/keys', () => {
  let t: TestGateway
  const clock = fakeClock()
  beforeAll(async () => {
    t = await gatewayWithKeys({ env: { MAX_KEY_DAYS: '30', REQUIRE_API_KEY: 'true' }, ports: { clock } })
  })
  afterAll(() => t.close())
  const call = (method: string, path: string, body?: unknown) =>
    t.fetch(path, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  it('lists keys page by page, finds them by a part of their name, and returns one', async () => {
    const labels = ['Page one', 'page two', 'page three']
    const made = []
    for (const label of labels) made.push(await makeKey(t, { label, cost_center: label === 'page two' ? 'Lab 7' : null }))
    const page = async (query: string) =>
      (await (await t.fetch(`/api/keys?${query}`)).json()) as {
        data: { id: number; label: string }[]
        next_cursor: string | null
        total: number
      }
    const first = await page('q=PAGE&limit=2')
    expect([first.data.map(({ label }) => label), first.total]).toEqual([labels.slice(0, 2), 3])
    const second = await page(`q=PAGE&limit=2&cursor=${first.next_cursor}`)
    expect([second.data.map(({ label }) => label), second.next_cursor, second.total]).toEqual([['page three'], null, 3])
    expect((await page('q=lab 7')).data.map(({ label }) => label)).toEqual(['page two'])
    expect((await page(`q=${made[2]?.key.slice(-4)}`)).data.map(({ id }) => id)).toContain(made[2]?.id)
    expect(await page('q=nothing like it')).toEqual({ data: [], next_cursor: null, total: 0 })
    expect(await (await t.fetch(`/api/keys/${made[1]?.id}`)).json()).toMatchObject({ label: 'page two', cost_center: 'Lab 7' })
    expect((await t.fetch('/api/keys/999999')).status).toBe(404)
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['cursor=x', 'cursor'],
      [`q=${'x'.repeat(201)}`, 'q'],
    ])
      expect(await errorOf(await t.fetch(`/api/keys?${query}`))).toMatchObject({ status: 400, param })
  })

  it('creates a key with every field, and shows the secret in that answer only', async () => {
    const expires = new Date(clock.now() + DAY).toISOString()
    const fields = {
      label: 'ci',
      allowed_models: ['chat/*'],
      rate_limit_rpm: 100,
      rate_limit_tpm: 20_000,
      cost_center: 'research',
      session_budget_usd: 1.25,
      expires_at: expires,
    }
    const made = await makeKey(t, fields)
    expect(made.key).toMatch(/^gw_[0-9A-Za-z]{47}$/)
    expect(made).toMatchObject({ ...fields, key_hint: `…${made.key.slice(-4)}`, managed_by: 'api' })
    const list = await (await t.fetch('/api/keys')).text()
    expect(list).not.toContain(made.key)
    expect(JSON.parse(list).data.find((row: { id: number }) => row.id === made.id)).toMatchObject(fields)
  })

  it('updates what is given, keeps the rest, and null clears', async () => {
    const made = await makeKey(t, { label: 'a', rate_limit_rpm: 5, cost_center: 'x' })
    const changed = await (await call('PATCH', `/api/keys/${made.id}`, { rate_limit_rpm: null, label: 'b' })).json()
    expect(changed).toMatchObject({ label: 'b', rate_limit_rpm: null, cost_center: 'x' })
    expect(changed).not.toHaveProperty('key')
  })

  it('revokes at once', async () => {
    const made = await makeKey(t)
    expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(made.key))).status).toBe(200)
    expect(await (await call('DELETE', `/api/keys/${made.id}`)).json()).toEqual({ deleted: true })
    expect(await errorOf(await t.post('/v1/chat/completions', ask('chat/m'), bearer(made.key)))).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'invalid_api_key',
    })
    expect((await call('DELETE', `/api/keys/${made.id}`)).status).toBe(404)
  })

  it('rotates: a new secret works, the old one does not, the record stays', async () => {
    const made = await makeKey(t, { label: 'turn', rate_limit_rpm: 7 })
    const rotated = (await (await call('POST', `/api/keys/${made.id}/rotate`)).json()) as typeof made
    expect(rotated).toMatchObject({ id: made.id, label: 'turn', rate_limit_rpm: 7 })
    expect(rotated.key).not.toBe(made.key)
    expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(made.key))).status).toBe(401)
    expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(rotated.key))).status).toBe(200)
  })

  it('ends at expires_at with code key_expired', async () => {
    const made = await makeKey(t, { expires_at: new Date(clock.now() + 60_000).toISOString() })
    expect((await t.post('/v1/chat/completions', ask('chat/m'), bearer(made.key))).status).toBe(200)
    await clock.advance(60_000)
    expect(await errorOf(await t.post('/v1/chat/completions', ask('chat/m'), bearer(made.key)))).toMatchObject({
      status: 401,
      type: 'authentication_error',
      code: 'key_expired',
    })
  })

  it('bounds the lifetime by GATEWAY_MAX_KEY_DAYS', async () => {
    const made = await makeKey(t)
    expect(Date.parse(made.expires_at as string)).toBe(clock.now() + 30 * DAY)
    const tooLong = await t.post('/api/keys', { expires_at: new Date(clock.now() + 31 * DAY).toISOString() })
    expect(await errorOf(tooLong)).toMatchObject({ status: 400, param: 'expires_at' })
    const unbounded = await call('PATCH', `/api/keys/${made.id}`, { expires_at: null })
    expect(Date.parse(((await unbounded.json()) as { expires_at: string }).expires_at)).toBe(clock.now() + 30 * DAY)
  })

  const wrong: [string, unknown, string][] = [
    ['an empty label', { label: ' ' }, 'label'],
    ['a label that is no string', { label: 4 }, 'label'],
    ['an allow-list that is no list', { allowed_models: 'openai/*' }, 'allowed_models'],
    ['an empty glob', { allowed_models: ['a', ''] }, 'allowed_models.1'],
    ['a cap of zero', { rate_limit_rpm: 0 }, 'rate_limit_rpm'],
    ['a fraction of a request', { rate_limit_rpm: 1.5 }, 'rate_limit_rpm'],
    ['a text for a cap', { rate_limit_tpm: '100' }, 'rate_limit_tpm'],
    ['a negative budget', { session_budget_usd: -1 }, 'session_budget_usd'],
    ['a cost center with a line break', { cost_center: 'a\r\nb' }, 'cost_center'],
    ['a time that is none', { expires_at: 'tomorrow' }, 'expires_at'],
    ['a time that has passed', { expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
    ['a member nobody knows', { modles: [] }, 'modles'],
    ['a prototype', JSON.parse('{"__proto__": {"polluted": true}}'), '__proto__'],
  ]
  for (const [name, body, param] of wrong) {
    it(`answers ${name} with 400 and the param, on create and on update`, async () => {
      const { id } = await makeKey(t)
      for (const response of [await call('POST', '/api/keys', body), await call('PATCH', `/api/keys/${id}`, body)])
        expect(await errorOf(response)).toMatchObject({ status: 400, type: 'invalid_request_error', param })
      expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    })
  }

  it('answers 404 for an id that is not there or is none', async () => {
    for (const id of ['999999', '0', '-1', '1e3', 'abc', '%00', '1%20'])
      for (const method of ['PATCH', 'DELETE'])
        expect((await call(method, `/api/keys/${id}`, {})).status, `${method} ${id}`).toBe(404)
  })
})
