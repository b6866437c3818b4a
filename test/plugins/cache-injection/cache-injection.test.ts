// Callers who set no cache breakpoints get them, only at messages upstreams.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask } from '../../adapters/node/support.ts'
import { DIALECTS } from '../../support/dialects.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const LONG = 'You are a careful assistant. '.repeat(200)
const EPHEMERAL = { type: 'ephemeral' }

async function gateway(settings: object = { enabled: true }, upstream = [text('ok')]): Promise<TestGateway> {
  const t = await createTestGateway({ upstream, config: { settings: { cache_injection: settings } } } as never)
  open.push(t)
  return t
}

async function sent(t: TestGateway, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await t.post(path, body)
  expect(response.status, await response.text()).toBe(200)
  return t.upstream.requests.at(-1)!.json
}

const messages = (t: TestGateway, members: object) =>
  sent(t, '/v1/messages', { model: 'messages/m', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...members })

const marksOf = (body: unknown) => JSON.stringify(body).split('"cache_control"').length - 1

describe('a long prompt without breakpoints', () => {
  it.each(DIALECTS)('of a %s caller has them behind the last turn, streamed or not', async (caller: Dialect) => {
    const t = await gateway()
    for (const stream of [false, true]) {
      const { path, body } = ask(caller, 'messages/m', { stream, text: LONG })
      const { messages } = (await sent(t, path, body)) as { messages: { content: unknown }[] }
      expect(messages.at(-1)!.content).toEqual([{ type: 'text', text: LONG, cache_control: EPHEMERAL }])
    }
  })

  it('of a chat caller has at most three: behind the system text, and behind the last turn', async () => {
    const t = await gateway()
    const body = await sent(t, '/v1/chat/completions', {
      model: 'messages/m',
      messages: [
        { role: 'system', content: LONG },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: 'Go on' },
      ],
      tools: [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }],
    })
    expect(marksOf(body)).toBe(2)
    expect(body.system).toEqual([{ type: 'text', text: LONG, cache_control: EPHEMERAL }])
    expect((body.messages as { content: unknown }[]).at(-1)!.content).toEqual([
      { type: 'text', text: 'Go on', cache_control: EPHEMERAL },
    ])
  })

  it('and without a system text has one behind the tools', async () => {
    const t = await gateway()
    const tools = ['one', 'two'].map((name) => ({ name, description: LONG, input_schema: { type: 'object' } }))
    const body = await messages(t, { tools })
    expect((body.tools as object[])[0]).not.toHaveProperty('cache_control')
    expect((body.tools as object[])[1]).toHaveProperty('cache_control', EPHEMERAL)
  })

  it('has it on the last block that takes one', async () => {
    const t = await gateway()
    const content = [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' },
      { type: 'text', text: ' ' },
    ]
    const body = await messages(t, {
      system: [
        { type: 'text', text: LONG },
        { type: 'text', text: 'Last.' },
      ],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        { role: 'user', content },
      ],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
    })
    expect(body.system).toEqual([
      { type: 'text', text: LONG },
      { type: 'text', text: 'Last.', cache_control: EPHEMERAL },
    ])
    expect((body.messages as { content: unknown }[]).at(-1)!.content).toEqual([
      { ...content[0], cache_control: EPHEMERAL },
      content[1],
    ])
  })

  it('has those of an hour where that is set', async () => {
    const t = await gateway({ enabled: true, ttl: '1h' })
    expect(await messages(t, { system: LONG })).toMatchObject({ system: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }] })
  })

  it('is noted in the log', async () => {
    const t = await gateway()
    await messages(t, { system: LONG })
    await t.untilSettled()
    expect(t.settled[0]!.ctx.notes).toEqual({ cache_injection: { breakpoints: 2 } })
  })
})

describe('nothing is injected', () => {
  it.each<[string, object]>([
    [
      'a block',
      { system: LONG, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: EPHEMERAL }] }] },
    ],
    ['a tool', { system: LONG, tools: [{ name: 'a', input_schema: { type: 'object' }, cache_control: EPHEMERAL }] }],
    ['the request', { system: LONG, cache_control: EPHEMERAL }],
  ])('where the caller marked %s', async (_where, members) => {
    const t = await gateway()
    const body = await messages(t, members)
    expect(marksOf(body)).toBe(1)
    expect(body).toMatchObject(members)
  })

  it('into a short prompt', async () => {
    expect(marksOf(await messages(await gateway(), { system: 'Be brief.' }))).toBe(0)
  })

  it('for an upstream of another dialect', async () => {
    const t = await gateway()
    for (const dialect of ['chat', 'responses', 'generate_content']) {
      const body = await sent(t, '/v1/messages', {
        model: `${dialect}/m`,
        max_tokens: 100,
        system: LONG,
        messages: [{ role: 'user', content: 'Hi' }],
      })
      expect(marksOf(body), dialect).toBe(0)
    }
  })

  it('while it is off, as it is by default', async () => {
    const t = await createTestGateway({ upstream: [text('ok')] })
    open.push(t)
    expect(marksOf(await messages(t, { system: LONG }))).toBe(0)
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' } }
    await t.fetch('/api/settings', { ...put, body: '{"cache_injection":{"enabled":true}}' })
    expect(marksOf(await messages(t, { system: LONG }))).toBe(2)
  })
})

it('an upstream that refuses breakpoints is asked once more without', async () => {
  const refusal = fail(400, { message: 'system.0.cache_control: Extra inputs are not permitted' })
  const t = await gateway({ enabled: true }, [refusal, text('ok')])
  await messages(t, { system: LONG })
  expect(t.upstream.requests.map(({ json }) => marksOf(json))).toEqual([2, 0])
  await t.untilSettled()
  expect(t.settled[0]!.ctx.notes).toEqual({ cache_injection: { breakpoints: 0 } })
})

it('and one that goes on refusing is heard', async () => {
  const refusal = fail(400, { message: 'cache_control is broken' })
  const t = await gateway({ enabled: true }, [refusal, refusal, text('never')])
  const response = await t.post('/v1/messages', {
    model: 'messages/m',
    max_tokens: 100,
    system: LONG,
    messages: [{ role: 'user', content: 'Hi' }],
  })
  expect(response.status).toBe(400)
  expect(t.upstream.requests).toHaveLength(2)
})

it('a failover to an upstream of another dialect carries none', async () => {
  const t = await gateway({ enabled: true }, [fail(503), text('ok')])
  const targets = ['messages', 'chat'].map((provider) => ({ provider, model: 'm' }))
  expect((await t.post('/api/virtual-models', { name: 'both', strategy: 'failover', targets })).status).toBe(201)
  await sent(t, '/v1/chat/completions', {
    model: 'both',
    messages: [
      { role: 'system', content: LONG },
      { role: 'user', content: 'Hi' },
    ],
  })
  expect(t.upstream.requests.map(({ json }) => marksOf(json))).toEqual([2, 0])
})
