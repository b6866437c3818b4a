// The similarity threshold, the parts that must be equal, and which requests may be answered by similarity.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { reply, text } from '../../../adapters/testing/script.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { answerOf, DIALECTS } from '../../support/dialects.ts'
import { ask as asking, bodyOf, put, type Seen } from '../exact-cache/support.ts'
import { type Site, type SiteOptions, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

async function open(options: SiteOptions = {}): Promise<void> {
  s = await site({ upstream: [text('first answer'), text('second answer'), text('third answer')], ...options })
}

async function ask(
  prompt: string,
  more: object = {},
  headers: Record<string, string> = {},
  dialect: Dialect = 'chat',
): Promise<Seen> {
  const seen = await asking(s.t, dialect, bodyOf(dialect, prompt, more), headers)
  await turns()
  return seen
}

describe('the threshold', () => {
  it('is 0.95: 0.951 is a hit and says so, 0.949 is a miss', async () => {
    await open()
    const kept = await ask('q')
    expect(kept).toMatchObject({ status: 200, cache: 'miss', type: null })
    const hit = await ask('q 0.951')
    expect(hit).toMatchObject({ status: 200, cache: 'hit', type: 'semantic' })
    expect(hit.headers.get('x-gateway-cache-similarity')).toBe('0.951')
    expect(JSON.parse(hit.bytes.toString()).choices[0].message.content).toBe('first answer')
    const miss = await ask('q 0.949')
    expect(miss).toMatchObject({ cache: 'miss', type: null })
    expect(miss.headers.get('x-gateway-cache-similarity')).toBeNull()
    expect(s.up.requests).toHaveLength(2)
  })

  it('is met exactly by what is exactly so like', async () => {
    await open()
    await ask('q')
    expect((await ask('q 0.95')).cache).toBe('hit')
  })

  it('of several the most similar answers, of equals the newest', async () => {
    await open({
      upstream: [text('far'), text('near'), text('newer')],
      vectorOf: (prompt) => ({ far: [1, 0.3], near: [1, 0.1], newer: [1, 0.1], asked: [1, 0.11] })[prompt] ?? [0, 1],
      env: { SEMANTIC_CACHE_THRESHOLD: '0.99' },
    })
    for (const prompt of ['far', 'near']) expect((await ask(prompt)).cache).toBe('miss')
    expect(JSON.parse((await ask('asked')).bytes.toString()).choices[0].message.content).toBe('near')
    expect((await ask('newer', {}, { 'x-gateway-cache-threshold': '1' })).cache).toBe('hit')
  })

  it('of GATEWAY_SEMANTIC_CACHE_THRESHOLD, of the setting, and of a caller that wants more but never less', async () => {
    await open({ env: { SEMANTIC_CACHE_THRESHOLD: '0.8' } })
    // Each attempt has its own scope, because a miss is stored too.
    let user = 0
    const tried = async (prompt: string, headers: Record<string, string> = {}) => {
      user++
      await ask('q', { user: `u${user}` })
      return (await ask(prompt, { user: `u${user}` }, headers)).cache
    }
    expect(await tried('q 0.81')).toBe('hit')
    expect(await tried('q 0.79')).toBe('miss')
    expect(await tried('q 0.81', { 'x-gateway-cache-threshold': '0.82' })).toBe('miss')
    expect(await tried('q 0.83', { 'x-gateway-cache-threshold': '0.82' })).toBe('hit')
    for (const less of ['0.1', '-1', 'NaN', '', '7'])
      expect(await tried('q 0.7', { 'x-gateway-cache-threshold': less })).toBe('miss')
    await put(s.t, { semantic_cache: { threshold: 0.9 } })
    expect(await tried('q 0.89')).toBe('miss')
    expect(await tried('q 0.91')).toBe('hit')
  })

  it('a number that is none is the default, and a warning', async () => {
    await open({ env: { SEMANTIC_CACHE_THRESHOLD: '1.5' } })
    await ask('q')
    expect((await ask('q 0.949')).cache).toBe('miss')
    expect((await ask('q 0.951')).cache).toBe('hit')
  })
})

describe('four caller dialects', () => {
  const cells = DIALECTS.flatMap((dialect) =>
    [false, true].flatMap((kept) => [false, true].map((given) => [dialect, kept, given] as const)),
  )

  it.each(cells)('%s: kept from a stream %s, given as a stream %s', async (dialect, kept, given) => {
    await open()
    const more = dialect === 'chat' && given ? { stream_options: { include_usage: true } } : {}
    expect(await ask('q', { stream: kept }, {}, dialect)).toMatchObject({ status: 200, cache: 'miss' })
    const hit = await ask('q 0.97', { stream: given, ...more }, {}, dialect)
    expect(hit).toMatchObject({ status: 200, cache: 'hit', type: 'semantic' })
    expect(hit.headers.get('x-gateway-cache-similarity')).toBe('0.970')
    const body = hit.bytes.toString()
    expect(body).toContain('first answer')
    const response = answerOf(dialect, body, given)
    expect(response).toMatchObject({
      choices: [{ finish: 'stop', parts: [{ t: 'text', text: 'first answer' }] }],
      usage: { inputTotal: 12, outputTotal: 7 },
    })
    expect(s.up.requests).toHaveLength(1)
    expect(s.t.settled.at(-1)?.outcome).toMatchObject({
      status: 200,
      cached: 'semantic',
      steps: [],
      cachedCall: { provider: dialect, model: 'm' },
    })
  })

  it('a stream is one chunk of content, the finish, and the usage only where it was asked for', async () => {
    await open()
    await ask('q')
    const body = (await ask('q 0.97', { stream: true })).bytes.toString()
    const frames = body.split('\n\n').filter((frame) => frame.startsWith('data: {'))
    const chunks = frames.map((frame) => JSON.parse(frame.slice(6)))
    expect(chunks.filter(({ choices }) => choices[0]?.delta?.content).map(({ choices }) => choices[0].delta.content)).toEqual([
      'first answer',
    ])
    expect(chunks.some(({ usage }) => usage != null)).toBe(false)
    expect(body.endsWith('data: [DONE]\n\n')).toBe(true)
  })
})

describe('not for this cache', () => {
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } }
  const long = 'x'.repeat(8001)
  const turn = (role: string, content: unknown) => ({ role, content })
  const never: [string, object][] = [
    ['tools', { tools: [tool] }],
    ['an image', { messages: [turn('user', [{ type: 'text', text: 'q' }, image])] }],
    [
      'seven messages',
      { messages: [...'ababab'].map((c, i) => turn(i % 2 ? 'assistant' : 'user', c)).concat(turn('user', 'q')) },
    ],
    ['more than 8000 characters', { messages: [turn('user', long)] }],
    ['a temperature over 1', { temperature: 1.1 }],
    ['several choices', { n: 2 }],
    ['no user turn at the end', { messages: [turn('user', 'q'), turn('assistant', 'then')] }],
    ['nothing but white space', { messages: [turn('user', '  ')] }],
  ]

  it.each(never)('%s: nothing is embedded', async (_, more) => {
    await open()
    for (let i = 0; i < 2; i++) expect(await ask('q', more)).toMatchObject({ status: 200, cache: 'miss' })
    expect(s.embed.asked).toEqual([])
  })

  it('a conversation the vendor remembers', async () => {
    await open()
    for (let i = 0; i < 2; i++) expect((await ask('q', { previous_response_id: 'resp_1' }, {}, 'responses')).cache).toBe('miss')
    expect(s.embed.asked).toEqual([])
  })

  it('a virtual model that combines several answers', async () => {
    s = await site({
      upstream: [text('one')],
      config: { virtualModels: { panel: { strategy: 'fusion', targets: ['chat/a', 'chat/b'] } } } as never,
    })
    for (let i = 0; i < 2; i++) expect((await ask('q', { model: 'panel' })).cache).toBe('miss')
    expect(s.embed.asked).toEqual([])
  })

  it.each([
    ['cut at its limit', reply({ text: 'half', finish: 'length' })],
    ['a refusal', reply({ text: '', refusal: 'no', finish: 'refusal' })],
    ['filtered', reply({ text: 'no', finish: 'content_filter' })],
    ['a call of a tool', reply({ toolCalls: [{ id: 'c', name: 'f', args: '{}' }] })],
  ])('an answer that is %s is not kept', async (_, step) => {
    await open({ upstream: [step, step, step, step] })
    for (const stream of [false, true, false, true]) expect((await ask('q', { stream })).cache).toBe('miss')
    expect(s.up.requests).toHaveLength(4)
  })

  it('a request that says no-store or no-cache', async () => {
    await open()
    await ask('q', {}, { 'cache-control': 'no-store' })
    expect(s.embed.asked).toEqual([])
    await ask('q')
    expect((await ask('q', {}, { 'x-gateway-cache-control': 'no-cache' })).cache).toBe('miss')
    expect((await ask('q', {}, { 'cache-control': 'max-age=0' })).cache).toBe('miss')
  })

  it('a request that takes nothing as old as what is kept', async () => {
    const clock = fakeClock()
    await open({ ports: { clock } })
    await ask('q')
    await clock.advance('61s')
    expect((await ask('q', {}, { 'cache-control': 'max-age=120' })).cache).toBe('hit')
    expect((await ask('q', {}, { 'cache-control': 'max-age=60' })).cache).toBe('miss')
  })
})

describe('a virtual model', () => {
  it('keeps under the target that answered, and looks under its first', async () => {
    s = await site({
      upstream: [{ kind: 'fail', status: 500, message: 'down' }, text('of b'), text('of a')],
      config: { virtualModels: { vm: { strategy: 'failover', targets: ['chat/a', 'chat/b'] } } } as never,
    })
    expect((await ask('q', { model: 'vm' })).cache).toBe('miss')
    expect((await ask('q', { model: 'vm' })).cache).toBe('miss')
    const hit = await ask('q', { model: 'vm' })
    expect(hit.cache).toBe('hit')
    expect(hit.bytes.toString()).toContain('of a')
  })
})

describe('with the exact cache', () => {
  it('the exact one is asked first, and what the semantic one gave is not kept as exact', async () => {
    await open({ env: { DEDUP_TTL_MS: '60000' } })
    await ask('q')
    expect((await ask('q')).type).toBe('exact')
    expect(s.embed.asked).toHaveLength(1)
    for (let i = 0; i < 2; i++) expect((await ask('q 0.97')).type).toBe('semantic')
  })
})

it('lasts GATEWAY_SEMANTIC_CACHE_TTL_MS, an hour where it is unset; 0 is off', async () => {
  const clock = fakeClock()
  await open({ ports: { clock } })
  await ask('q')
  await clock.advance(3_599_000)
  expect((await ask('q')).cache).toBe('hit')
  await clock.advance(1000)
  expect((await ask('q')).cache).toBe('miss')
  await s.close()
  await open({ env: { SEMANTIC_CACHE_TTL_MS: '0' } })
  await ask('q')
  expect((await ask('q')).cache).toBe('miss')
  expect(s.embed.asked).toEqual([])
})

it('nothing of prompts and answers is readable in the database', async () => {
  await open({ upstream: [text('canary-answer')], vectorOf: () => [1, 0] })
  await ask('canary-prompt')
  expect((await ask('canary-prompt again')).cache).toBe('hit')
  const db = s.t.gateway.db
  const tables =
    (await db?.all<{ name: string }>({ text: "SELECT name FROM sqlite_master WHERE type = 'table'", params: [] })) ?? []
  expect(tables.length).toBeGreaterThan(10)
  for (const { name } of tables) {
    const rows = JSON.stringify(await db?.all({ text: `SELECT * FROM ${name}`, params: [] }))
    expect(`${name} ${rows}`).not.toMatch(/canary-(answer|prompt)/)
  }
})
