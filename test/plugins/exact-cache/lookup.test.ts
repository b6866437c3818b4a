// Which requests the exact cache treats as equal, and which answers it never reuses.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, raw, reply, text } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { DIALECTS } from '../../support/dialects.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, bodyOf, CACHED, HOUR, put } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

describe('a hit', () => {
  it.each(CACHED)('%s: the same bytes, ids included, marked as exact, without another upstream call', async (dialect) => {
    t = await createTestGateway({ env: HOUR, upstream: [text('first'), text('second')] })
    const first = await ask(t, dialect)
    const second = await ask(t, dialect)
    expect(first).toMatchObject({ status: 200, cache: 'miss', type: null })
    expect(second).toMatchObject({ status: 200, cache: 'hit', type: 'exact' })
    expect(second.bytes.equals(first.bytes)).toBe(true)
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(second.headers.get('x-gateway-request-id')).not.toBe(first.headers.get('x-gateway-request-id'))
    expect(second.headers.get('x-gateway-attempts')).toBeNull()
    expect(t.upstream.requests).toHaveLength(1)
  })

  it.each(CACHED)('%s through another wire format: what was translated is given again as it was sent', async (dialect) => {
    t = await createTestGateway({ env: HOUR, upstream: [text('first'), text('second')] })
    const model = dialect === 'messages' ? 'chat/m' : 'messages/m'
    const first = await ask(t, dialect, bodyOf(dialect, 'hi', { model }))
    const second = await ask(t, dialect, bodyOf(dialect, 'hi', { model }))
    expect(second).toMatchObject({ cache: 'hit', type: 'exact' })
    expect(second.bytes.equals(first.bytes)).toBe(true)
  })

  it('has what the answer had cost on its outcome, and no upstream response header of the first', async () => {
    t = await createTestGateway({ env: HOUR, upstream: [text('first', { headers: { 'x-ratelimit-remaining-requests': '7' } })] })
    await ask(t, 'chat')
    const second = await ask(t, 'chat')
    const [stored, hit] = t.settled
    expect(hit?.outcome).toMatchObject({ cached: 'exact', steps: [], costNano: null, usage: { total: 0 } })
    expect(hit?.outcome.cachedCall).toMatchObject({
      ...{ requestId: stored?.ctx.id, provider: 'chat', model: 'm', costNano: stored?.outcome.costNano },
      usage: { inputTotal: 12, outputTotal: 7, raw: null },
    })
    expect([...second.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([])
  })
})

it.each(['fusion', 'pipeline', 'weighted'] as const)('a virtual model that is %s is kept under its name', async (strategy) => {
  const virtualModels = { vm: { strategy, targets: ['chat/a', 'chat/b'] } }
  const upstream = await scriptedUpstream(text('an answer'))
  const connections = {
    chat: { provider: 'custom', baseUrl: upstream.baseUrl('chat'), wireFormat: 'chat' as const, apiKey: 'k' },
  }
  t = await createTestGateway({ env: HOUR, config: { connections, virtualModels } })
  try {
    const first = await ask(t, 'chat', bodyOf('chat', 'hi', { model: 'vm' }))
    const calls = upstream.requests.length
    const second = await ask(t, 'chat', bodyOf('chat', 'hi', { model: 'vm' }))
    expect(first).toMatchObject({ status: 200, cache: 'miss' })
    expect(second).toMatchObject({ cache: 'hit', type: 'exact' })
    expect(second.bytes.equals(first.bytes)).toBe(true)
    expect(upstream.requests).toHaveLength(calls)
    // All calls behind the answer were avoided.
    const steps = t.settled[0]?.outcome.steps ?? []
    expect(steps).toHaveLength(calls)
    expect(t.settled[1]?.outcome.cachedCall?.usage.inputTotal).toBe(12 * calls)
    expect((await ask(t, 'chat', bodyOf('chat', 'hi', { model: 'chat/a' }))).cache).toBe('miss')
  } finally {
    await upstream.close()
  }
})

describe('x-gateway-cache', () => {
  const cells = DIALECTS.flatMap((dialect) => [false, true].map((stream) => [dialect, stream] as const))

  it.each(cells)('is `miss` on an answer of an upstream: %s, stream %s, off', async (dialect, stream) => {
    t = await createTestGateway()
    expect(await ask(t, dialect, bodyOf(dialect, 'hi', { stream }))).toMatchObject({ status: 200, cache: 'miss', type: null })
    expect(await ask(t, dialect, bodyOf(dialect, 'hi', { stream }))).toMatchObject({ status: 200, cache: 'miss', type: null })
    expect(t.upstream.requests).toHaveLength(2)
  })

  it.each(DIALECTS)('streams are never given again by the exact cache: %s', async (dialect) => {
    t = await createTestGateway({ env: HOUR })
    for (let i = 0; i < 2; i++)
      expect(await ask(t, dialect, bodyOf(dialect, 'hi', { stream: true }))).toMatchObject({ cache: 'miss' })
    expect(t.upstream.requests).toHaveLength(2)
  })

  it('generate_content is not kept', async () => {
    t = await createTestGateway({ env: HOUR })
    for (let i = 0; i < 2; i++) expect(await ask(t, 'generate_content')).toMatchObject({ cache: 'miss' })
    expect(t.upstream.requests).toHaveLength(2)
  })

  it.each(DIALECTS)('is `miss` on refused and failed answers: %s', async (dialect) => {
    t = await createTestGateway({ env: HOUR, upstream: [fail(400), fail(500)] })
    for (const status of [400, 500]) expect(await ask(t, dialect)).toMatchObject({ status, cache: 'miss', type: null })
    await t.close()
    t = await createTestGateway({ env: { ...HOUR, REQUIRE_API_KEY: 'true' } })
    expect(await ask(t, dialect)).toMatchObject({ status: 401, cache: 'miss', type: null })
  })
})

describe('the key', () => {
  const same: [string, string][] = [
    ['the order of members', '{"messages":[{"content":"hi","role":"user"}],"temperature":1,"model":"chat/m"}'],
    ['white space', '{ "model": "chat/m",\n "temperature": 1, "messages": [ {"role":"user","content":"hi"} ] }'],
    ['how a number is written', '{"model":"chat/m","temperature":1.0e0,"messages":[{"role":"user","content":"hi"}]}'],
    ['how a character is written', '{"model":"chat/m","temperature":1,"messages":[{"role":"user","content":"\\u0068i"}]}'],
    [
      'null for absent',
      '{"model":"chat/m","temperature":1,"top_p":null,"messages":[{"role":"user","content":"hi","name":null}]}',
    ],
    ['`metadata`', '{"model":"chat/m","temperature":1,"metadata":{"run":"7"},"messages":[{"role":"user","content":"hi"}]}'],
    ['`stream: false`', '{"model":"chat/m","temperature":1,"stream":false,"messages":[{"role":"user","content":"hi"}]}'],
  ]
  const BASE = '{"model":"chat/m","temperature":1,"messages":[{"role":"user","content":"hi"}]}'

  it.each(same)('is the same whatever %s', async (_, body) => {
    t = await createTestGateway({ env: HOUR })
    await ask(t, 'chat', BASE)
    expect(await ask(t, 'chat', body)).toMatchObject({ status: 200, cache: 'hit' })
  })

  const others: [string, string][] = [
    ['model', BASE.replace('chat/m', 'chat/n')],
    ['prompt', BASE.replace('"hi"', '"hi "')],
    ['parameter', BASE.replace('"temperature":1', '"temperature":0.9')],
    ['user', BASE.replace('{"model"', '{"user":"u7","model"')],
    ['unknown member', BASE.replace('{"model"', '{"house_rule":1,"model"')],
    ['`__proto__`', BASE.replace('{"model"', '{"__proto__":{"a":1},"model"')],
    ['seed', BASE.replace('{"model"', '{"seed":1,"model"')],
    ['n', BASE.replace('{"model"', '{"n":2,"model"')],
  ]

  it.each(others)('another %s is another request', async (_, body) => {
    t = await createTestGateway({ env: HOUR })
    await ask(t, 'chat', BASE)
    expect((await ask(t, 'chat', body)).cache).toBe('miss')
    expect(t.upstream.requests).toHaveLength(2)
    expect((await ask(t, 'chat', body)).cache).toBe('hit')
  })

  it('numbers that parsing would round are told apart; digits in a text are no such number', async () => {
    t = await createTestGateway({ env: HOUR })
    const numbered = (digits: string) => BASE.replace('{"model"', `{"house_rule":${digits},"model"`)
    await ask(t, 'chat', numbered('9007199254740993'))
    expect((await ask(t, 'chat', numbered('9007199254740992'))).cache).toBe('miss')
    expect((await ask(t, 'chat', numbered('9007199254740993'))).cache).toBe('hit')
    const quoted = BASE.replace('"hi"', '"9007199254740993 \\\\\\" e1"')
    await ask(t, 'chat', quoted)
    expect((await ask(t, 'chat', quoted.replace(',"messages"', ', "messages"'))).cache).toBe('hit')
  })

  it('another caller format is another request, and so is a header that switches the vendor', async () => {
    t = await createTestGateway({ env: HOUR })
    const body = { model: 'messages/m', max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] }
    await ask(t, 'messages', body)
    expect((await ask(t, 'chat', body)).cache).toBe('miss')
    expect((await ask(t, 'messages', body, { 'anthropic-beta': 'context-1m-2025-08-07' })).cache).toBe('miss')
    expect((await ask(t, 'messages', body)).cache).toBe('hit')
  })

  it('two keys never share, nor does one share with nobody', async () => {
    t = await createTestGateway({ env: HOUR })
    const [one, two] = [await makeKey(t), await makeKey(t)]
    const tries = [bearer(one.key), bearer(two.key), {}]
    for (const headers of tries) expect((await ask(t, 'chat', bodyOf('chat'), headers)).cache).toBe('miss')
    for (const headers of tries) expect((await ask(t, 'chat', bodyOf('chat'), headers)).cache).toBe('hit')
    expect(t.upstream.requests).toHaveLength(3)
  })
})

describe('what is kept', () => {
  const long = 'x'.repeat(1024 * 1024)
  const never = [
    ['an error', fail(400)],
    ['an answer cut at its limit', reply({ text: 'half', finish: 'length' })],
    ['a filtered answer', reply({ text: 'no', finish: 'content_filter' })],
    ['a refusal', reply({ text: '', refusal: 'I will not.', finish: 'refusal' })],
    ['a call of a tool', reply({ toolCalls: [{ id: 'call_1', name: 'f', args: '{}' }] })],
    ['an empty answer', reply({ text: '' })],
    ['more than 1 MiB', text(long)],
  ] as const

  it.each(
    CACHED.flatMap((dialect) => never.map(([what, step]) => [dialect, what, step] as const)),
  )('%s: %s is asked for again', async (dialect, _, step) => {
    t = await createTestGateway({ env: HOUR, upstream: [step, step] })
    const first = await ask(t, dialect)
    const second = await ask(t, dialect)
    expect(second.status).toBe(first.status)
    expect(second.cache).not.toBe('hit')
    expect(t.upstream.requests).toHaveLength(2)
  })

  it('not an answer whose caller left before it came', async () => {
    t = await createTestGateway({ env: HOUR, upstream: [text('late', { delayMs: 1000 }), text('now')] })
    const leaving = new AbortController()
    const left = t.fetch('/v1/chat/completions', {
      ...{ method: 'POST', body: JSON.stringify(bodyOf('chat')), signal: leaving.signal },
      headers: { 'content-type': 'application/json' },
    })
    await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
    leaving.abort()
    await left
    await t.untilSettled(1)
    expect(t.settled[0]?.outcome.status).toBe(499)
    expect((await ask(t, 'chat')).cache).toBe('miss')
  })

  it('not an error under status 200', async () => {
    t = await createTestGateway({
      env: HOUR,
      upstream: [raw(200, '{"error":{"message":"busy","type":"server_error"}}'), text('ok')],
    })
    expect((await ask(t, 'chat')).cache).not.toBe('hit')
    expect((await ask(t, 'chat')).cache).toBe('miss')
  })

  it('a thousand answers, the least recently used go first', { timeout: 60_000 }, async () => {
    t = await createTestGateway({ env: HOUR })
    const body = (n: number) => bodyOf('chat', `question ${n}`)
    await ask(t, 'chat', body(0))
    await ask(t, 'chat', body(1))
    for (let n = 2; n < 1000; n++) await ask(t, 'chat', body(n))
    expect((await ask(t, 'chat', body(0))).cache).toBe('hit')
    await ask(t, 'chat', body(1000))
    expect((await ask(t, 'chat', body(0))).cache).toBe('hit')
    expect((await ask(t, 'chat', body(1))).cache).toBe('miss')
  })

  it('64 MiB', { timeout: 60_000 }, async () => {
    t = await createTestGateway({ env: HOUR, upstream: [text('x'.repeat(1000 * 1024))] })
    const body = (n: number) => bodyOf('chat', `question ${n}`)
    for (let n = 0; n < 70; n++) await ask(t, 'chat', body(n))
    expect((await ask(t, 'chat', body(69))).cache).toBe('hit')
    expect((await ask(t, 'chat', body(10))).cache).toBe('hit')
    expect((await ask(t, 'chat', body(0))).cache).toBe('miss')
  })
})

describe('how long', () => {
  it('GATEWAY_DEDUP_TTL_MS, to the millisecond; unset is off', async () => {
    const clock = fakeClock()
    t = await createTestGateway({ env: { DEDUP_TTL_MS: '1000' }, ports: { clock } })
    await ask(t, 'chat')
    await clock.advance(999)
    expect((await ask(t, 'chat')).cache).toBe('hit')
    await clock.advance(1)
    expect((await ask(t, 'chat')).cache).toBe('miss')
  })

  it('the setting beats the environment at once, in both directions, and what is switched off is forgotten', async () => {
    t = await createTestGateway({ env: HOUR })
    await ask(t, 'chat')
    await put(t, { exact_cache: { ttl_ms: 0 } })
    expect((await ask(t, 'chat')).cache).toBe('miss')
    await put(t, { exact_cache: { ttl_ms: 600_000 } })
    expect((await ask(t, 'chat')).cache).toBe('miss')
    expect((await ask(t, 'chat')).cache).toBe('hit')
    await put(t, { 'exact_cache.ttl_ms': null })
    expect((await ask(t, 'chat')).cache).toBe('hit')
  })

  it('a caller that says max-age is given nothing older, keeps its own for no longer, and never beyond what is configured', async () => {
    const clock = fakeClock()
    t = await createTestGateway({ env: HOUR, ports: { clock } })
    const cacheOf = async (control?: string, prompt = 'hi') =>
      (await ask(t, 'chat', bodyOf('chat', prompt), control === undefined ? {} : { 'cache-control': control })).cache
    await cacheOf()
    await clock.advance('61s')
    expect(await cacheOf('max-age=120')).toBe('hit')
    expect(await cacheOf('max-age=60')).toBe('miss')
    expect(await cacheOf()).toBe('hit')
    await clock.advance('61s')
    expect(await cacheOf()).toBe('miss')
    await cacheOf('max-age=31536000', 'long')
    await clock.advance('3600s')
    expect(await cacheOf('max-age=31536000', 'long')).toBe('miss')
  })

  it.each([
    [{ 'cache-control': 'no-cache' }],
    [{ 'cache-control': 'max-age=9, no-store' }],
    [{ 'cache-control': 'max-age=0' }],
    [{ 'x-gateway-cache-control': 'no-cache' }],
  ])('a caller that says %o is neither given nor adds anything', async (headers) => {
    t = await createTestGateway({ env: HOUR, upstream: [text('kept'), text('fresh')] })
    expect((await ask(t, 'chat', bodyOf('chat', 'other'), headers)).cache).toBe('miss')
    expect((await ask(t, 'chat', bodyOf('chat', 'other'))).cache).toBe('miss')
    expect((await ask(t, 'chat', bodyOf('chat', 'other'), headers)).cache).toBe('miss')
    expect((await ask(t, 'chat', bodyOf('chat', 'other'))).cache).toBe('hit')
    expect(t.upstream.requests).toHaveLength(3)
  })
})
