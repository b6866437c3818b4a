// The free pool where it meets the playground and webhooks: limits and borders are those of a client's request.
import { afterEach, describe, expect, it } from 'vitest'
import { fail } from '../../../adapters/testing/script.ts'
import type { OutboundPost } from '../../../core/types/ports/ports.ts'
import { answer, type PoolOptions, type PoolSite, poolSite } from './support.ts'

let s: PoolSite
afterEach(() => s.t.close())

interface Event {
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: each lane has its own shape
  data: any
}

async function play(org: number, body: object = {}): Promise<{ text: string; events: Event[]; done: Event['data'] }> {
  const question = { model: 'gateway/free', messages: [{ role: 'user', content: 'hi' }], max_tokens: 40, ...body }
  const response = await s.t.post('/api/playground/run', { dialect: 'chat', body: question }, { 'x-org': String(org) })
  expect(response.status).toBe(200)
  const text = await response.text()
  const events = [...text.matchAll(/event: (\w+)\ndata: (.*)\n/g)].map(
    ([, event = '', data = '']): Event => ({ event, data: JSON.parse(data) }),
  )
  return { text, events, done: events.at(-1)?.data }
}

const used = async (org: number) => (await s.api<{ used: { hour: number } }>(org, '/api/free-pool')).used.hour

describe('the playground', () => {
  it('counts for the organization of the operator, within its limit, at no charge', async () => {
    s = await poolSite({ env: { FREE_TIER_TOKEN_LIMIT_HOUR: '150' } })
    expect((await play(7)).done).toMatchObject({ status: 200, charge_usd: 0, cost_usd: 0.00046 })
    await s.t.untilCommitted(1)
    expect((await s.rows())[0]).toMatchObject({ orgId: 7, freePool: true, source: 'playground', chargeNano: 0 })
    expect(await used(7)).toBe(100)
    expect((await play(7, { max_tokens: 60 })).done).toMatchObject({ status: 429, error: { code: 'free_tier_limit' } })
    expect(await used(7)).toBe(100)
    expect((await play(8)).done).toMatchObject({ status: 200 })
    expect(s.t.upstream.requests).toHaveLength(2)
  })

  it('needs a verified address as clients do', async () => {
    s = await poolSite({ env: { MULTI_TENANT: 'true' } })
    expect((await play(7)).done).toMatchObject({ status: 403, error: { code: 'email_not_verified' } })
    expect(s.t.upstream.requests).toHaveLength(0)
    s.verified.add(7)
    expect((await play(7)).done).toMatchObject({ status: 200 })
  })

  it.each([false, true])('shows an organization nothing of the connection, stream %s', async (stream) => {
    const headers = { 'x-operators-own': 'tag-1' }
    s = await poolSite({ connection: { label: 'operators-own', headers }, upstream: [fail(500, { message: 'try' }), answer()] })
    const { port } = new URL(s.t.upstream.baseUrl('chat'))
    for (const status of [500, 200]) {
      const { text, events, done } = await play(7, { stream })
      expect(done).toMatchObject({ status, attempts: [{ connection_id: null, connection: 'free-pool' }] })
      expect(text).not.toContain(`:${port}`)
      expect(text).not.toMatch(/operators-own|tag-1|sk-upstream/)
      // The own request is shown as the dialect of the target has it.
      const upstream = events.find(({ event }) => event === 'upstream')?.data
      expect(upstream).toMatchObject({
        shared: true,
        url: '***',
        headers: {},
        body: { model: 'm', messages: [{ content: 'hi' }] },
      })
      expect(events.filter(({ event }) => event === 'raw').map(({ data }) => data)).toEqual([{ call: 1, status }])
    }
    // The gateway's own organization sees its connection.
    const own = await play(0, { stream })
    expect(own.events.find(({ event }) => event === 'upstream')?.data).toMatchObject({ url: expect.stringContaining(port) })
    expect(own.events.filter(({ event }) => event === 'raw').length).toBeGreaterThan(1)
  })

  it('translates for the pool without showing the connection', async () => {
    s = await poolSite({ connection: { label: 'operators-own' } })
    const body = { model: 'gateway/free', messages: [{ role: 'user', content: 'hi' }] }
    const translated = await s.api<{ upstream: unknown }>(7, '/api/playground/translate', {
      method: 'POST',
      body: { dialect: 'chat', body },
    })
    expect(translated.upstream).toBeNull()
    expect(JSON.stringify(translated)).not.toContain('operators-own')
  })
})

interface Sent {
  path: string
  type: string
  org_id: number | null
  data: Record<string, unknown>
}

describe('webhooks', () => {
  /** An endpoint for the organizations 7 and 8 and for the gateway's own; each with its own path. */
  async function listening(options: PoolOptions): Promise<Sent[]> {
    const sent: Sent[] = []
    const outboundPost: OutboundPost = async ({ url, body }) => {
      sent.push({ path: new URL(url).pathname, ...(JSON.parse(body) as Omit<Sent, 'path'>) })
      return { status: 200 }
    }
    s = await poolSite({ ...options, ports: { outboundPost } })
    const { data } = await s.api<{ data: { type: string }[] }>(0, '/api/webhooks/event-types')
    const event_types = data.map(({ type }) => type)
    for (const org of [0, 7, 8]) {
      const made = await s.api<{ id: string }>(org, '/api/webhooks/endpoints', {
        method: 'POST',
        body: { url: `https://hooks.example.com/${org}`, event_types },
      })
      expect(made.id).toEqual(expect.any(String))
    }
    return sent
  }
  const to = (sent: readonly Sent[], org: number) => sent.filter(({ path }) => path === `/${org}`)

  it('tell the organization that used the pool, without the connection, and no other one', async () => {
    const sent = await listening({ connection: { label: 'operators-own' }, upstream: [answer(), fail(500)] })
    for (const [org, status] of [
      [7, 200],
      [7, 500],
    ] as const)
      expect(await s.use(org)).toBe(status)
    await s.clock.advance(6000)
    await expect
      .poll(() =>
        to(sent, 7)
          .map(({ type }) => type)
          .sort(),
      )
      .toEqual(['request.failed', 'spend.tracked'])
    const failed = to(sent, 7).find(({ type }) => type === 'request.failed')
    expect(failed).toMatchObject({ org_id: 7, data: { free_pool: true, account_id: 'free-pool' } })
    const spent = to(sent, 7).find(({ type }) => type === 'spend.tracked')
    expect(spent).toMatchObject({ data: { events: [{ free_pool: true, account_id: null, cost: { charge_usd: 0 } }] } })
    expect(JSON.stringify(to(sent, 7))).not.toMatch(/operators-own|sk-upstream/)
    expect(to(sent, 8)).toEqual([])
  })

  it('about the health of a shared connection go to the gateway’s own organization only', async () => {
    const sent = await listening({ upstream: [fail(500)] })
    for (let i = 0; i < 6; i++) await s.ask(7)
    await s.clock.advance(6000)
    await expect.poll(() => to(sent, 0).map(({ type }) => type)).toContain('provider.circuit_opened')
    expect(to(sent, 7).filter(({ type }) => type.startsWith('provider.') || type.startsWith('account.'))).toEqual([])
    expect(to(sent, 8)).toEqual([])
  })
})
