// The style instructions of caveman and ponytail: who gets them, where they stand, and who never does.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { CAVEMAN, PONYTAIL } from '../../../plugins/token-saver/texts.ts'
import { ask } from '../../adapters/node/support.ts'
import { DIALECTS } from '../../support/dialects.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

const FULL = CAVEMAN.full
const LAZY = PONYTAIL.full
const BOTH = { CAVEMAN_LEVEL: 'full', PONYTAIL_LEVEL: 'full' }

async function gateway(env: Record<string, string> = {}, upstream = [text('ok')]): Promise<TestGateway> {
  const t = await createTestGateway({ env, upstream })
  open.push(t)
  return t
}

interface Asking {
  headers?: Record<string, string>
  members?: object
  model?: string
}

/** What reaches the upstream when a chat caller asks. */
async function sent(t: TestGateway, { headers = {}, members = {}, model = 'chat/m' }: Asking = {}): Promise<string> {
  const messages = [{ role: 'user', content: 'Hi' }]
  const response = await t.post('/v1/chat/completions', { model, messages, ...members }, headers)
  expect(response.status, await response.text()).toBe(200)
  return t.upstream.requests.at(-1)!.text
}

const says = (body: string, instruction: string) => body.split(JSON.stringify(instruction).slice(1, -1)).length - 1

describe.each(DIALECTS)('a %s caller', (caller: Dialect) => {
  it.each([false, true])('has both said to every upstream, once, caveman first (stream: %s)', async (stream) => {
    const t = await gateway(BOTH)
    for (const upstream of DIALECTS) {
      const { path, body } = ask(caller, `${upstream}/m`, { stream })
      const response = await t.post(path, body)
      expect(response.status, await response.text()).toBe(200)
      const sent = t.upstream.requests.at(-1)!
      expect([says(sent.text, FULL), says(sent.text, LAZY)], upstream).toEqual([1, 1])
      expect(says(sent.text, `${FULL}\n\n${LAZY}`), upstream).toBe(1)
      const { system, instructions, systemInstruction, messages } = sent.json as Record<string, unknown>
      const place = { chat: messages, messages: system, responses: instructions, generate_content: systemInstruction }[upstream]
      expect(JSON.stringify(place ?? sent.json), upstream).toContain(JSON.stringify(FULL).slice(1, -1))
    }
  })
})

describe('the instruction stands last', () => {
  const system = {
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hi' },
    ],
  }

  it('as a paragraph of the system message of a chat upstream', async () => {
    const body = JSON.parse(await sent(await gateway({ CAVEMAN_LEVEL: 'full' }), { members: system }))
    expect(body.messages[0]).toEqual({ role: 'system', content: `Be kind.\n\n${FULL}` })
    expect(body.messages).toHaveLength(2)
  })

  it('as a block of its own at a messages upstream, behind the caller’s cache mark', async () => {
    const t = await gateway({ CAVEMAN_LEVEL: 'full' })
    const marked = { type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }
    const body = { model: 'messages/m', max_tokens: 9, system: [marked], messages: [{ role: 'user', content: 'Hi' }] }
    await (await t.post('/v1/messages', body)).text()
    expect(t.upstream.requests[0]!.json.system).toEqual([marked, { type: 'text', text: FULL }])
  })

  it('once, where the caller has said it already', async () => {
    const members = {
      messages: [
        { role: 'system', content: `${FULL} And be kind.` },
        { role: 'user', content: 'Hi' },
      ],
    }
    expect(says(await sent(await gateway({ CAVEMAN_LEVEL: 'full' }), { members }), FULL)).toBe(1)
  })
})

describe('the level', () => {
  it.each([
    ...Object.entries(CAVEMAN).map(([level, told]) => ['CAVEMAN_LEVEL', level, told] as const),
    ...Object.entries(PONYTAIL).map(([level, told]) => ['PONYTAIL_LEVEL', level, told] as const),
  ])('%s=%s has a text of its own', async (variable, level, told) => {
    expect(says(await sent(await gateway({ [variable]: level })), told)).toBe(1)
    const all: string[] = [...Object.values(CAVEMAN), ...Object.values(PONYTAIL)]
    expect(all.filter((other) => other === told)).toHaveLength(1)
  })

  it('that nobody knows is ignored, in the environment as in a header', async () => {
    const t = await gateway({ CAVEMAN_LEVEL: 'loud', PONYTAIL_LEVEL: 'full' })
    const body = await sent(t, { headers: { 'x-gateway-caveman': 'louder', 'x-gateway-ponytail': 'none' } })
    expect([says(body, LAZY), body.includes('Answer style')]).toEqual([1, false])
  })

  it('of a header wins over the settings, and `off` is one', async () => {
    const t = await gateway(BOTH)
    const body = await sent(t, { headers: { 'x-gateway-caveman': 'Ultra', 'x-gateway-ponytail': 'off' } })
    expect([says(body, FULL), says(body, CAVEMAN.ultra), says(body, LAZY)]).toEqual([0, 1, 0])
    expect(says(await sent(await gateway(), { headers: { 'x-gateway-caveman': 'full' } }), FULL)).toBe(1)
  })

  it('of the settings wins over the environment at once, and null gives it back', async () => {
    const t = await gateway({ CAVEMAN_LEVEL: 'full' })
    const put = async (caveman_level: string | null) => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' } }
      const response = await t.fetch('/api/settings', { ...init, body: JSON.stringify({ token_saver: { caveman_level } }) })
      return response.status
    }
    expect(await put('ultra')).toBe(200)
    expect(says(await sent(t), CAVEMAN.ultra)).toBe(1)
    expect(await put('off')).toBe(200)
    expect(await sent(t)).not.toContain('Answer style')
    expect(await put(null)).toBe(200)
    expect(says(await sent(t), FULL)).toBe(1)
    expect(await put('loud')).toBe(400)
  })
})

describe('nothing is said', () => {
  it.each<[string, object]>([
    ['an answer in JSON is asked for', { response_format: { type: 'json_object' } }],
    [
      'an answer by a schema is asked for',
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } } },
    ],
    ['a tool is forced', { tool_choice: { type: 'function', function: { name: 'look' } } }],
    ['some tool is', { tool_choice: 'required' }],
  ])('where %s', async (_what, members) => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const t = await gateway(BOTH)
    expect(await sent(t, { members: { tools, ...members } })).not.toContain(' style: ')
    expect(says(await sent(t, { members: { tools } }), FULL)).toBe(1)
  })

  it('to a request that opts out', async () => {
    expect(await sent(await gateway(BOTH), { headers: { 'x-gateway-token-saver': 'off' } })).not.toContain(' style: ')
  })

  it('to who counts tokens', async () => {
    const t = await gateway(BOTH)
    const body = { model: 'messages/m', messages: [{ role: 'user', content: 'Hi' }] }
    await (await t.post('/v1/messages/count_tokens', body)).text()
    for (const { text } of t.upstream.requests) expect(text).not.toContain(' style: ')
  })

  it('to panels and judges', async () => {
    const t = await gateway(BOTH)
    const targets = ['one', 'two'].map((model) => ({ provider: 'chat', model }))
    expect((await t.post('/api/virtual-models', { name: 'panel', strategy: 'fusion', targets })).status).toBe(201)
    await sent(t, { model: 'panel' })
    expect(t.upstream.requests.length).toBeGreaterThan(2)
    for (const { text } of t.upstream.requests) expect(text).not.toContain(' style: ')
  })

  it('by default, and the body is the caller’s own', async () => {
    const body = '{ "model":"chat/m", "messages":[{"role":"user","content":"Hi"}], "seed_of_mine":1.10 }'
    const t = await gateway()
    await (await t.post('/v1/chat/completions', body)).text()
    expect(t.upstream.requests[0]!.text).toBe(body.replace('chat/m', 'm'))
  })
})

it('is the same for every attempt, and in the log once', async () => {
  const t = await gateway(BOTH, [fail(503), text('ok')])
  const targets = ['messages', 'chat'].map((provider) => ({ provider, model: 'm' }))
  expect((await t.post('/api/virtual-models', { name: 'both', strategy: 'failover', targets })).status).toBe(201)
  await sent(t, { model: 'both', headers: { 'x-gateway-ponytail': 'off' } })
  expect(t.upstream.requests.map(({ text }) => says(text, FULL))).toEqual([1, 1])
  await t.untilSettled()
  expect(t.settled[0]!.ctx.notes).toEqual({ token_saver: { caveman: 'full', ponytail: null } })
})

it('a cached answer is one of the same level', async () => {
  const t = await gateway({ DEDUP_TTL_MS: '60000' })
  const cache = async (level: string) => {
    const body = { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] }
    const response = await t.post('/v1/chat/completions', body, { 'x-gateway-caveman': level })
    await response.text()
    return response.headers.get('x-gateway-cache')
  }
  expect([await cache('full'), await cache('off'), await cache('full'), await cache('off')]).toEqual([
    'miss',
    'miss',
    'hit',
    'hit',
  ])
})
