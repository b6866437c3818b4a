// What is told of a request in the log, live, to webhooks and in metrics is what its usage rows say: who answered, tokens and cost.
import { afterEach, expect, it } from 'vitest'
import { fail, raw } from '../../../adapters/testing/script.ts'
import { type Site, site, turns, used } from '../budgets/support.ts'
import { listenIn } from '../live-events/support.ts'
import { until } from '../webhooks/support.ts'

let s: Site
afterEach(() => s.close())

interface Told {
  provider: string | null
  model: string | null
  tokens: { prompt: number; completion: number; total: number }
  cost_usd: number | null
}
interface Logged extends Told {
  request_id: string
}
interface Live extends Told {
  request_id: string
  account_id: number | null
  cost: { cost_usd: number | null }
}

const told = (
  provider: string | null,
  model: string | null,
  prompt: number,
  completion: number,
  cost_usd: number | null,
): Told => ({
  provider,
  model,
  cost_usd,
  tokens: { prompt, completion, total: prompt + completion },
})
const of = ({ provider, model, tokens: { prompt, completion, total }, cost_usd }: Told): Told => ({
  provider,
  model,
  cost_usd,
  tokens: { prompt, completion, total },
})

it('from one upstream, a panel, a chain that breaks, a cache, and where nothing was bought', async () => {
  const sent: string[] = []
  const outboundPost = async ({ body }: { body: string }) => {
    sent.push(body)
    return { status: 200 }
  }
  s = await site({ env: { DEDUP_TTL_MS: '60000' }, ports: { outboundPost } })
  await s.api('POST', '/api/webhooks/endpoints', { url: 'http://hooks.example.com/in', event_types: ['spend.tracked'] })
  const model = (body: object) => s.api('POST', '/api/virtual-models', body)
  await model({ name: 'two', strategy: 'failover', targets: ['chat/m', 'messages/m2'] })
  await model({ name: 'panel', strategy: 'fusion', targets: ['chat/m', 'messages/m2'], config: { judge: 'chat/dear' } })
  await model({ name: 'chain', strategy: 'pipeline', targets: ['chat/m', 'messages/m2'] })
  const live = await listenIn(s.t)

  let asked = 0
  const ask = async (steps: Parameters<typeof s.t.upstream.script>, body: object): Promise<void> => {
    s.t.upstream.script(...steps)
    await s.spend({ messages: [{ role: 'user', content: `Number ${++asked}` }], ...body })
  }
  const same = { model: 'two', messages: [{ role: 'user', content: 'the same' }] }
  await ask([used(7, 13)], { model: 'chat/m' })
  await ask([fail(500), used(21, 22)], same)
  await ask([], same)
  await ask([used(10, 20), used(10, 20), used(50, 60)], { model: 'panel' })
  await ask([used(1, 2), fail(400)], { model: 'chain' })
  await ask([used(1000, 1000)], { model: 'chat/free' })
  await ask([fail(400)], { model: 'responses/m' })
  await ask([], { model: 'nobody/m' })
  s.t.upstream.script(raw(200, '{"input_tokens":5}', { contentType: 'application/json' }))
  await s.t.post('/v1/messages/count_tokens', { model: 'messages/m', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] })
  await s.t.untilSettled(9)
  await turns()

  const expected = [
    told('chat', 'm', 7, 13, 0.000137),
    told('messages', 'm2', 21, 22, 0.000241),
    told('messages', 'm2', 21, 22, 0),
    told('chat', 'dear', 70, 100, 0.00692),
    told('messages', 'm2', 1, 2, 0.000021),
    told('chat', 'free', 1000, 1000, null),
    told('responses', 'm', 0, 0, 0),
    told(null, null, 0, 0, 0),
    told('messages', 'm', 0, 0, 0),
  ]
  const logs = (await s.api<{ data: Logged[] }>('GET', '/api/logs')).body.data.reverse()
  expect(logs.map(of)).toEqual(expected)
  const cached = (await s.api<{ data: Logged[] }>('GET', '/api/logs?cached=true&provider=messages&min_cost_usd=0')).body.data
  expect(cached.map(({ request_id }) => request_id)).toEqual([logs[2]?.request_id])

  // Events that come at once are sent together, a little later.
  await s.clock.advance(40)
  await live.until(() => live.events.length === 10)
  const events = live.events.slice(1).map(({ data }) => JSON.parse(data) as Live)
  expect(events.map((event) => of({ ...event, ...event.cost }))).toEqual(expected)
  await live.leave()

  await until(async () => {
    await s.clock.advance('1s')
    return sent.length > 0
  })
  const [batch] = sent.map((body) => (JSON.parse(body) as { data: { events: Live[] } }).data.events)
  // Completed ones: those that an upstream or a cache answered.
  expect(batch?.map((record) => of({ ...record, ...record.cost }))).toEqual(expected.slice(0, 6))
  expect(batch?.[2]).toMatchObject({ account_id: null })

  interface Totals {
    totals: { tokens: { prompt: number; completion: number }; cost_usd: number }
  }
  const { totals } = (await s.api<Totals>('GET', '/api/usage')).body
  const sum = (figure: (one: Told) => number | null) => expected.reduce((total, one) => total + (figure(one) ?? 0), 0)
  expect(totals.tokens).toMatchObject({
    prompt: sum((one) => one.tokens.prompt),
    completion: sum((one) => one.tokens.completion),
  })
  expect(totals.cost_usd).toBeCloseTo(
    sum((one) => one.cost_usd),
    9,
  )
  const metrics = await (await s.t.fetch('/metrics')).text()
  const cost = [...metrics.matchAll(/^gateway_cost_usd_total\{provider="(\w+)"\} (\S+)$/gm)].map(([, name, usd]) => [
    name,
    Number(usd),
  ])
  expect(Object.fromEntries(cost)).toEqual({
    chat: expect.closeTo(0.000137 + 0.00021 + 0.0065 + 0.000021, 9),
    messages: expect.closeTo(0.000241 + 0.00021, 9),
  })
  const requests = [...metrics.matchAll(/^gateway_requests_total\{operation="chat",.*provider="(\w+)",status="(\d+)"\} (\d+)$/gm)]
  expect(requests.map(([, ...series]) => series.join(' ')).sort()).toEqual([
    'chat 200 3',
    'messages 200 1',
    'messages 400 1',
    'none 200 1',
    'none 400 1',
    'responses 400 1',
  ])
})
