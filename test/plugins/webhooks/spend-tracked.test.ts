// `spend.tracked`: batches of what requests cost.
import { afterEach, describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { openFile } from '../../support/sites.ts'
import { ask } from '../keys/support.ts'
import { type Envelope, envelopeIn, turns, until, type World, type WorldOptions, world } from './support.ts'

let t: World
afterEach(() => t?.close())

const told = (type?: string): Envelope[] =>
  t.receiver.arrived.map(envelopeIn).filter((envelope) => type === undefined || envelope.type === type)

const chat = async (model = 'chat/m', more: object = {}, headers: Record<string, string> = {}): Promise<number> => {
  const response = await t.post('/v1/chat/completions', { ...ask(model), ...more }, headers)
  await response.arrayBuffer()
  return response.status
}

/** Settled, committed, and looked at. */
async function quiet(): Promise<void> {
  await t.untilSettled(t.settled.length)
  await turns()
  await t.clock.advance(1100)
  await until(async () => (await t.deliveries('&status=pending')).length === 0)
}

const only = (type: string) => ({ event_types: [type] })
const steady = { settings: { breaker: { failure_threshold: 1000 } } }
const worldOf = (options: WorldOptions = {}) => world({ ...options, config: { ...steady, ...options.config } })

describe('spend.tracked', () => {
  it('brings completed requests every 5 s, with numeric accounts and the organization, and only to who asks for it', async () => {
    t = await worldOf({ upstream: [text('fine')] })
    await t.endpoint({ url: 'http://hooks.example.com/default' })
    await t.endpoint({ url: 'http://hooks.example.com/spend', event_types: ['spend.tracked'] })
    for (let i = 0; i < 3; i++) expect(await chat('chat/m', {}, { 'x-session-id': `s${i}` })).toBe(200)
    await t.untilSettled(3)
    await t.clock.advance(4900)
    expect(t.receiver.arrived).toEqual([])
    await t.clock.advance(200)
    await quiet()
    expect(t.receiver.arrived.map(({ path }) => path)).toEqual(['/spend'])
    const { events, count } = told()[0]?.data as { events: Record<string, unknown>[]; count: number }
    expect([count, events.length]).toEqual([3, 3])
    const { ctx, outcome } = t.settled[0] as (typeof t.settled)[number]
    const usd = (nano: number | null) => (nano === null ? null : nano / 1e9)
    expect(events[0]).toEqual({
      request_id: ctx.id,
      session_id: 's0',
      occurred_at: expect.stringMatching(/Z$/),
      api_key_label: '',
      api_key_id: null,
      provider: 'chat',
      account_id: Number(ctx.candidate?.connection.id),
      model: 'm',
      virtual_model: '',
      status: 200,
      latency_ms: expect.any(Number),
      tokens: expect.objectContaining({ prompt: expect.any(Number), completion: expect.any(Number), total: expect.any(Number) }),
      cost: { cost_usd: usd(outcome.costNano), charge_usd: usd(outcome.chargeNano) },
      free_pool: false,
      dedup_key: 'chat:200',
      org_id: null,
    })
    expect(Number.isInteger(events[0]?.account_id)).toBe(true)
  })

  it('goes out at 512 records at once', async () => {
    t = await worldOf({ upstream: [text('fine')] })
    await t.endpoint(only('spend.tracked'))
    for (let i = 0; i < 516; i += 12) await Promise.all(Array.from({ length: 12 }, () => chat()))
    await t.untilSettled(516)
    await until(() => told().length === 1)
    expect(told()[0]?.data.count).toBe(512)
    await t.clock.advance(5000)
    await quiet()
    expect(told()[1]?.data.count).toBe(4)
  })

  it('a batch that was begun is queued when the gateway closes', async () => {
    const site = await openFile()
    t = await worldOf({ env: site.env, upstream: [text('fine')] })
    await t.endpoint(only('spend.tracked'))
    await chat()
    await t.untilSettled(1)
    const { clock, receiver } = t
    await t.close()
    t = await worldOf({ env: site.env, clock, receiver })
    await t.clock.advance(1100)
    await until(() => receiver.arrived.length === 1)
    expect(told()[0]?.data.count).toBe(1)
    await t.close()
    await site.end()
    t = await world()
  })
})
