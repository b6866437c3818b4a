// The free pool as callers, other organizations and the operator see it.
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { answer, type PoolOptions, type PoolSite, poolSite } from './support.ts'

let s: PoolSite
afterEach(() => s.t.close())

const open = async (options: PoolOptions = {}) => {
  s = await poolSite(options)
  return s
}

const COST = 60 * 1000 + 40 * 10_000

interface Refused {
  error: { code: string | null; message: string; param: string | null }
}
const errorOf = async (response: Response) => ((await response.json()) as Refused).error
const ids = async (org: number) =>
  ((await (await s.t.fetch('/v1/models', { headers: { 'x-org': String(org) } })).json()) as { data: { id: string }[] }).data.map(
    ({ id }) => id,
  )

const BODIES: Readonly<Record<string, (stream: boolean) => { path: string; body: object }>> = {
  chat: (stream) => ({
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 40, stream },
  }),
  messages: (stream) => ({ path: '/v1/messages', body: { messages: [{ role: 'user', content: 'hi' }], max_tokens: 40, stream } }),
  responses: (stream) => ({ path: '/v1/responses', body: { input: 'hi', max_output_tokens: 40, stream } }),
}

describe('a call to the pool', () => {
  it.each(
    Object.keys(BODIES).flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const)),
  )('is answered in %s, stream %s, and costs the organization nothing', async (dialect, stream) => {
    await open({ shared: ['messages'] })
    const { path, body } = (BODIES[dialect] as (stream: boolean) => { path: string; body: object })(stream)
    const response = await s.t.post(path, { model: 'gateway/free', ...body }, { 'x-org': '7' })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('Hell')
    await s.t.untilCommitted(1)
    const row = (await s.rows())[0]
    expect(row).toMatchObject({ orgId: 7, freePool: true, connectionId: 'free-pool', provider: 'messages', model: 'm' })
    expect(row).toMatchObject({ costNano: COST, chargeNano: 0, virtualModel: 'gateway/free' })
    expect((await s.api<{ used: object }>(7, '/api/free-pool')).used).toEqual({ hour: 100, day: 100, week: 100 })
  })

  it.each(['chat', 'messages', 'responses', 'generate_content'])('is served by connections that speak %s', async (dialect) => {
    await open({ shared: [dialect] })
    for (const stream of [false, true]) expect(await s.use(7, { stream })).toBe(200)
    expect((await s.rows()).map(({ provider, costNano, chargeNano }) => [provider, costNano, chargeNano])).toEqual([
      [dialect, COST, 0],
      [dialect, COST, 0],
    ])
    expect(await s.reserved()).toBe(0)
  })

  it('shows an organization neither the id nor the label of the connection, in a record of any kind', async () => {
    await open({
      shared: ['chat', 'messages'],
      connection: { label: 'operators-own' },
      upstream: [fail(500), answer()],
    })
    const headers: string[] = []
    const response = await s.ask(7)
    for (const [name, value] of response.headers) headers.push(`${name}: ${value}`)
    await response.arrayBuffer()
    await s.t.untilCommitted(1)
    const { ctx, outcome } = s.t.settled[0] as PoolSite['t']['settled'][number]
    const real = new Set(ctx.attempts.map(({ candidate }) => candidate.connection.id))
    expect(real.size).toBe(2)
    const list = await s.api<{ data: { request_id: string; free_pool: boolean; charge_usd: number; cost_usd: number }[] }>(
      7,
      '/api/logs',
    )
    expect(list.data[0]).toMatchObject({ free_pool: true, charge_usd: 0, cost_usd: COST / 1e9 })
    const log = await s.api<{ attempts: { connection_id: string }[] }>(7, `/api/logs/${list.data[0]?.request_id}`)
    expect(log.attempts.map(({ connection_id }) => connection_id)).toEqual(['free-pool', 'free-pool'])
    expect(outcome.steps.map(({ connectionId }) => connectionId)).toEqual(['free-pool'])
    const { requestRecord } = await import('../../../plugins/webhooks/events/request-events.ts')
    const record = requestRecord(ctx, outcome, 0)
    expect(record).toMatchObject({ account_id: 'free-pool', free_pool: true })
    const { eventOf, settledOf } = await import('../../../plugins/live-events/payload.ts')
    const event = eventOf(settledOf(ctx, outcome, 0))
    expect(event).toMatchObject({ free_pool: true, cost: { charge_usd: 0 } })
    expect(JSON.stringify([headers, list, log, record, event])).not.toMatch(/operators-own|sk-upstream/)
    expect(await ids(7)).toContain('gateway/free')
  })

  it('of the gateway’s own organization names the connection', async () => {
    await open()
    await s.use(0)
    const row = (await s.rows())[0]
    expect(row).toMatchObject({ orgId: null, freePool: true, chargeNano: 0 })
    expect(Number(row?.connectionId)).toBeGreaterThan(0)
  })

  it('takes the connections in turn, and the next one when one fails', async () => {
    await open({ shared: ['chat', 'messages'], upstream: [answer(), answer(), fail(503), answer()] })
    for (let i = 0; i < 2; i++) await s.use(7)
    expect(new Set(s.t.upstream.requests.map(({ dialect }) => dialect))).toEqual(new Set(['chat', 'messages']))
    expect(await s.use(7)).toBe(200)
    expect(s.t.upstream.requests).toHaveLength(4)
  })

  it('books a receipt of what it saved at list price', async () => {
    await open()
    await s.use(7)
    const { data } = await s.api<{ data: object[] }>(7, '/api/savings?source=free_pool')
    expect(data).toMatchObject([{ source: 'free_pool', usd_saved: COST / 1e9, tokens_saved: 0 }])
    s.clock.jump(1)
    expect(await s.api(7, '/api/usage/split')).toMatchObject({
      free_pool: { requests: 1, cost_usd: 0, list_price_usd: COST / 1e9 },
      own_provider: { requests: 0 },
    })
  })

  it('counts no budget, and passes one that is used up', async () => {
    await open()
    for (const hard_limit_usd of [0, 1]) {
      await s.api(7, '/api/budgets', {
        method: 'POST',
        body: { scope: 'org', window: hard_limit_usd ? 'daily' : 'monthly', hard_limit_usd },
      })
      expect(await s.use(7)).toBe(200)
    }
    const { data } = await s.api<{ data: object[] }>(7, '/api/budgets')
    expect(data).toMatchObject([
      { spend_usd: 0, reserved_usd: 0 },
      { spend_usd: 0, reserved_usd: 0 },
    ])
  })

  it('is charged at cost and within budgets when the operator says so', async () => {
    await open({ config: { settings: { 'free_pool.charged': true } as never } })
    expect(await s.use(7)).toBe(200)
    expect((await s.rows())[0]).toMatchObject({ freePool: true, costNano: COST, chargeNano: COST })
    await s.api(7, '/api/budgets', { method: 'POST', body: { scope: 'org', window: 'daily', hard_limit_usd: 0 } })
    expect((await s.ask(7)).status).toBe(402)
    expect((await s.api<{ data: object[] }>(7, '/api/savings?source=free_pool')).data).toEqual([])
  })

  it('that a cache answers counts no tokens', async () => {
    await open({ config: { settings: { 'exact_cache.ttl_ms': 60_000 } as never }, env: { FREE_TIER_TOKEN_LIMIT_HOUR: '150' } })
    const body = { temperature: 0 }
    for (let i = 0; i < 3; i++) expect(await s.use(7, body)).toBe(200)
    expect(s.t.upstream.requests).toHaveLength(1)
    expect((await s.rows())[1]).toMatchObject({ cached: 'exact', costNano: 0, chargeNano: 0 })
    expect((await s.api<{ used: { hour: number } }>(7, '/api/free-pool')).used.hour).toBe(100)
  })
})

describe('the name', () => {
  it('is 400 and unlisted while no connection is shared', async () => {
    await open({ shared: [] })
    expect(await errorOf(await s.ask(7))).toMatchObject({ param: 'model', message: expect.stringContaining('not configured') })
    expect(await ids(7)).not.toContain('gateway/free')
    expect(await s.api(7, '/api/free-pool')).toMatchObject({ enabled: false })
  })

  it('belongs to a virtual model of the organization that has it', async () => {
    await open({ env: { FREE_TIER_TOKEN_LIMIT_HOUR: '1' } })
    // A virtual model reaches connections of its own organization only.
    const upstream = { base_url: s.t.upstream.baseUrl('messages'), wire_format: 'messages', api_key: 'sk-of-org-7' }
    await s.api(7, '/api/providers', { method: 'POST', body: { provider: 'custom', label: 'own', ...upstream } })
    const target = { provider: 'custom', model: 'm' }
    await s.api(7, '/api/virtual-models', {
      method: 'POST',
      body: { name: 'gateway/free', strategy: 'failover', targets: [target] },
    })
    expect(await s.use(7)).toBe(200)
    expect((await s.rows())[0]).toMatchObject({ freePool: false, provider: 'custom' })
    expect(await s.api(7, '/api/free-pool')).toMatchObject({ shadowed: true, used: { hour: 0 } })
    expect((await s.ask(8)).status).toBe(429)
    expect(await s.api(8, '/api/free-pool')).toMatchObject({ shadowed: false })
  })

  it('is another one when GATEWAY_FREE_POOL_VM says so', async () => {
    await open({ env: { FREE_POOL_VM: 'try-me' } })
    expect(await s.use(7, { model: 'try-me' })).toBe(200)
    expect(await s.use(7)).toBe(400)
  })

  it('reaches no connection of another organization, and none that is disabled', async () => {
    await open({ connection: { enabled: false } })
    const body = { provider: 'openai', api_key: 'sk-of-org-8', label: 'mine', default_model: 'm', metadata: { free_pool: true } }
    await s.api(8, '/api/providers', { method: 'POST', body })
    expect((await s.ask(7)).status).toBe(400)
  })
})

describe('callers', () => {
  it('of many tenants need a verified address', async () => {
    await open({ env: { MULTI_TENANT: 'true' } })
    const refused = await s.ask(7)
    expect(refused.status).toBe(403)
    expect(await errorOf(refused)).toMatchObject({ code: 'email_not_verified' })
    s.verified.add(7)
    expect(await s.use(7)).toBe(200)
    expect(await s.api(7, '/api/free-pool')).toMatchObject({ verified_required: true })
  })

  it('need none when it is switched off', async () => {
    await open({ env: { MULTI_TENANT: 'true', FREE_TIER_REQUIRES_VERIFIED_EMAIL: 'false' } })
    expect(await s.use(7)).toBe(200)
    expect(await s.api(7, '/api/free-pool')).toMatchObject({ verified_required: false })
  })

  it('cannot reach the pool by an internal call that nothing was reserved for', async () => {
    let invoke: (() => Promise<unknown>) | undefined
    const inner = definePlugin({
      name: 'test-inner',
      setup(gateway) {
        invoke = () =>
          gateway.invoke({ model: 'gateway/free', messages: [{ role: 'user', parts: [{ t: 'text', text: 'hi' }] }] } as never, {
            operation: 'chat',
            source: 'probe',
            orgId: 7,
          })
      },
    })
    await open({ config: { plugins: [...preset(), inner()] } })
    await expect(invoke?.()).rejects.toMatchObject({ status: 400 })
    expect(s.t.upstream.requests).toHaveLength(0)
  })
})
