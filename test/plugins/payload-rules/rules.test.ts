// The effect of rules on an upstream body, path by path, and which calls they match.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../../adapters/testing/index.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { ask } from '../../adapters/node/support.ts'
import { vendors } from '../../operations/support.ts'
import { DIALECTS } from '../../support/dialects.ts'

const folder = mkdtempSync(join(tmpdir(), 'payload-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))
const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})
let files = 0

async function gateway(rules: unknown, upstream = [text('ok')]): Promise<TestGateway> {
  const path = join(folder, `${++files}.json`)
  writeFileSync(path, JSON.stringify(rules))
  const t = await createTestGateway({ env: { PAYLOAD_RULES_PATH: path }, upstream })
  open.push(t)
  return t
}

/** Returns the upstream's body when a chat caller sends these members. */
async function sent(t: TestGateway, members: object = {}, model = 'chat/m'): Promise<Record<string, unknown>> {
  const response = await t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...members })
  expect(response.status, await response.text()).toBe(200)
  return t.upstream.requests.at(-1)!.json
}

describe('default', () => {
  const rules = [{ name: 'd', default: { temperature: 0.5, 'options.depth.max': 3 } }]

  it('sets what is absent, with the objects on the way', async () => {
    expect(await sent(await gateway(rules))).toMatchObject({ temperature: 0.5, options: { depth: { max: 3 } } })
  })

  it('sets what is null', async () => {
    expect(await sent(await gateway(rules), { temperature: null, options: { depth: null, kept: 1 } })).toMatchObject({
      temperature: 0.5,
      options: { depth: { max: 3 }, kept: 1 },
    })
  })

  it('leaves what the caller said, zero and false too', async () => {
    const t = await gateway([{ default: { temperature: 0.5, store: true } }])
    expect(await sent(t, { temperature: 0, store: false })).toMatchObject({ temperature: 0, store: false })
  })
})

describe('override', () => {
  it('sets in any case, and makes objects but no arrays and nothing below a scalar', async () => {
    const t = await gateway([{ override: { temperature: 0.2, 'a.b.c': [1], 'user.x': 1, 'stop.0': 'new', 'stop.5': 'beyond' } }])
    const body = await sent(t, { temperature: 1, user: 'me', stop: ['old'] })
    expect(body).toMatchObject({ temperature: 0.2, a: { b: { c: [1] } }, user: 'me', stop: ['new'] })
  })

  it('leaves an item of an array that is not there alone, and takes a number as the key of an object that is', async () => {
    const t = await gateway([
      { default: { 'tools.0.function.strict': true, 'stop.-1': 'x', 'new.list.0': 1 }, override: { 'logit_bias.50256': -100 } },
    ])
    expect(Object.keys(await sent(t, { stop: null }))).toEqual(['model', 'messages', 'stop'])
    expect(await sent(t, { logit_bias: { 7: 1 } })).toMatchObject({ logit_bias: { 7: 1, 50256: -100 } })
  })

  it('reaches the last item with -1, every item with *, and a key with a dot behind a backslash', async () => {
    const t = await gateway([
      { override: { 'messages.-1.name': 'last', 'messages.*.seen': true, 'metadata.a\\.b': 'dotted', 'extra.*': 0 } },
    ])
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
    ]
    expect(await sent(t, { messages, extra: { x: 1, 'y.z': 2 } })).toMatchObject({
      messages: [
        { role: 'user', content: 'a', seen: true },
        { name: 'last', seen: true },
      ],
      metadata: { 'a.b': 'dotted' },
      extra: { x: 0, 'y.z': 0 },
    })
  })
})

describe('remove', () => {
  it('deletes a key and takes an item out of its array', async () => {
    const t = await gateway([{ remove: ['user', 'stop.1', 'metadata.a', 'messages.*.name', 'logit_bias.none'] }])
    const messages = [{ role: 'user', content: 'a', name: 'n' }]
    const body = await sent(t, { messages, user: 'me', stop: ['a', 'b', 'c'], metadata: { a: '1', b: '2' } })
    expect(body).toMatchObject({ messages: [{ role: 'user', content: 'a' }], stop: ['a', 'c'], metadata: { b: '2' } })
    expect(body).not.toHaveProperty('user')
    expect(JSON.stringify(body)).not.toContain('"n"')
  })

  it('empties an array with *', async () => {
    const t = await gateway([{ remove: ['stop.*'] }])
    expect(await sent(t, { stop: ['a', 'b', 'c'] })).toMatchObject({ stop: [] })
  })
})

it('keeps whatever no rule names to the digit', async () => {
  const t = await gateway([{ override: { temperature: 0.2 } }])
  const body = '{"model":"chat/m","messages":[{"role":"user","content":"Hi"}],"seed_of_mine":12345678901234567890.10}'
  await t.post('/v1/chat/completions', body)
  expect(t.upstream.requests[0]!.text).toContain('"seed_of_mine":12345678901234567890.10')
  expect(t.upstream.requests[0]!.json.temperature).toBe(0.2)
})

it('later rules see what earlier ones did, and of one rule default, override and remove come in this order', async () => {
  const t = await gateway([
    { name: 'one', remove: ['c'], override: { b: 2, c: 2 }, default: { a: 1, b: 1 } },
    { name: 'two', default: { a: 9, c: 9 }, override: { b: 3 } },
  ])
  expect(await sent(t)).toMatchObject({ a: 1, b: 3, c: 9 })
})

it('`model` and `stream` stay the gateway’s own', async () => {
  const t = await gateway([{ override: { model: 'other', stream: true, '*': 0, user: 'u' } }])
  const response = await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'Hi' }] })
  await response.text()
  expect(t.upstream.requests[0]!.json).toMatchObject({ model: 'm', messages: 0, user: 'u' })
  expect(t.upstream.requests[0]!.json.stream).not.toBe(true)
})

describe('match', () => {
  it.each(DIALECTS)('a format is the upstream’s: %s callers reach both targets, the rule one', async (caller: Dialect) => {
    const t = await gateway([{ match: { format: 'anthropic' }, override: { marked: true } }])
    for (const upstream of ['chat', 'messages'])
      for (const stream of [false, true]) {
        const { path, body } = ask(caller, `${upstream}/m`, { stream })
        const response = await t.post(path, body)
        expect(response.status, await response.text()).toBe(200)
        expect(t.upstream.requests.at(-1)!.json.marked, `${upstream} ${stream}`).toBe(upstream === 'messages' ? true : undefined)
      }
  })

  it('a model is a glob over the bare id and over provider/model, letter case aside', async () => {
    const t = await gateway({
      rules: [
        { match: { model: 'GPT-5*' }, override: { bare: 1 } },
        { match: { models: ['chat/gpt-?', 'x'] }, override: { full: 1 } },
        { match: { provider: 'messages', model: '*' }, override: { never: 1 } },
        { match: { provider: ['*'], wire_format: 'openai' }, set: { any: 1 } },
      ],
    })
    const body = await sent(t, {}, 'chat/gpt-5')
    expect(body).toMatchObject({ bare: 1, full: 1, any: 1 })
    expect(body).not.toHaveProperty('never')
    const other = await sent(t, {}, 'chat/o3')
    expect(other).toMatchObject({ any: 1 })
    expect([other.bare, other.full]).toEqual([undefined, undefined])
  })

  it('takes the other names of its members', async () => {
    const t = await gateway([
      { match: { protocol: 'chat', providers: 'chat' }, default_if_absent: { a: 1 }, set: { b: 1 }, filter: ['user'] },
      { defaults: { c: 1 } },
      { enabled: false, set: { off: 1 } },
    ])
    const body = await sent(t, { user: 'me' })
    expect(body).toMatchObject({ a: 1, b: 1, c: 1 })
    expect([body.user, body.off]).toEqual([undefined, undefined])
  })
})

it('a failover gets the rules of its own target', async () => {
  const t = await gateway(
    [{ name: 'for messages', match: { format: 'messages' }, override: { marked: true } }],
    [fail(503), text('ok')],
  )
  const made = await t.post('/api/virtual-models', {
    name: 'both',
    strategy: 'failover',
    targets: [
      { provider: 'messages', model: 'm' },
      { provider: 'chat', model: 'm' },
    ],
  })
  expect(made.status, await made.text()).toBe(201)
  await sent(t, {}, 'both')
  expect(t.upstream.requests.map(({ json }) => json.marked)).toEqual([true, undefined])
})

it('the log names the rules that changed something, once each', async () => {
  const t = await gateway([
    { name: 'cap', override: { max_tokens: 5 } },
    { name: 'idle', default: { temperature: 1 } },
    { name: 'elsewhere', match: { format: 'gemini' }, override: { x: 1 } },
  ])
  await sent(t, { temperature: 0 })
  await t.untilSettled()
  expect(t.settled[0]!.ctx.notes).toEqual({ payload_rules: ['cap'] })
})

describe('operations besides chat', () => {
  const MARK = { marked: true }

  it.each([
    ['completions', '/v1/completions', { model: 'openai/gpt-3.5-turbo-instruct', prompt: 'hi' }],
    ['embeddings', '/v1/embeddings', { model: 'openai/e', input: 'hi' }],
    ['audio', '/v1/audio/speech', { model: 'openai/s', input: 'hi', voice: 'alloy' }],
    ['search', '/v1/search', { model: 'tavily/search', query: 'hi' }],
    ['web_fetch', '/v1/web/fetch', { url: 'https://93.184.216.34/', provider: 'tavily' }],
    ['responses', '/v1/responses/compact', { model: 'openai/m', input: 'hi', mode: 'native' }],
  ])('the format %s is that of %s', async (format, path, body) => {
    const file = join(folder, `${++files}.json`)
    const formats = ['chat', 'responses', 'completions', 'embeddings', 'audio', 'search', 'web_fetch']
    writeFileSync(file, JSON.stringify(formats.map((name) => ({ match: { format: name }, override: { [name]: MARK } }))))
    const v = await vendors(['openai', 'tavily'], { env: { PAYLOAD_RULES_PATH: file } })
    const response = await v.t.post(path, body)
    expect(response.status, await response.text()).toBe(200)
    const sent = v.vendor.requests[0]?.json ?? {}
    expect(formats.filter((name) => name in sent)).toEqual([format])
    await v.close()
  })

  it('completions over chat have the format of the chat call', async () => {
    const t = await gateway([
      { match: { format: 'completions' }, override: { wrong: 1 } },
      { match: { format: 'messages' }, override: { right: 1 } },
    ])
    expect((await t.post('/v1/completions', { model: 'messages/m', prompt: 'hi', max_tokens: 5 })).status).toBe(200)
    expect(t.upstream.requests.at(-1)?.json).toMatchObject({ right: 1, messages: [{ role: 'user' }] })
    expect(t.upstream.requests.at(-1)?.json).not.toHaveProperty('wrong')
  })
})
