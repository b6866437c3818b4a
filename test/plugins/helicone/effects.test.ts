// Caches, retries, limits and fallbacks by Helicone's headers.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { ask, errorIn, lastContext } from './support.ts'

let t: TestGateway
afterEach(() => t.close())
const start = async (options: TestGatewayOptions = {}) => {
  t = await createTestGateway({ upstream: [text('hello')], ...options })
}
const CACHED = { 'helicone-cache-enabled': 'true' }

describe('caching', () => {
  it('is turned on for a request that asks, for seven days unless it says how long, at most a year, and told', async () => {
    const wished: (number | undefined)[] = []
    const watcher = definePlugin({
      name: 'watcher',
      setup(gateway) {
        const cache = gateway.optional('exactCache')
        gateway.hook('settled', (ctx) => void wished.push(cache()?.directives(ctx).ttlMs))
      },
    })
    await start({ plugins: [watcher()] })
    const seen = []
    const turns: Record<string, string>[] = [
      CACHED,
      CACHED,
      { ...CACHED, 'cache-control': 'max-age=99999999' },
      { 'helicone-property-a': 'b' },
    ]
    for (const headers of turns) {
      const answer = await ask(t, headers)
      seen.push(['helicone-cache', 'x-gateway-cache', 'helicone-cache-bucket-idx'].map((name) => answer.headers.get(name)))
    }
    const hit = ['HIT', 'hit', '0']
    expect(seen).toEqual([['MISS', 'miss', '0'], hit, hit, [null, 'miss', null]])
    const day = 86_400_000
    expect(wished).toEqual([7 * day, 7 * day, 365 * day, undefined])
  })

  it('keeps for max-age, of either header, and not at all for 0 or no-store', async () => {
    const clock = fakeClock()
    await start({ ports: { clock } })
    const cacheOf = async (headers: Record<string, string>) => (await ask(t, headers)).headers.get('helicone-cache')
    const short = { ...CACHED, 'cache-control': 'max-age=60' }
    expect(await cacheOf(short)).toBe('MISS')
    expect(await cacheOf(short)).toBe('HIT')
    await clock.advance('61s')
    expect(await cacheOf(short)).toBe('MISS')
    expect(await cacheOf({ ...CACHED, 'helicone-cache-control': 'max-age=0' })).toBeNull()
    expect(await cacheOf({ ...CACHED, 'helicone-cache-control': 'no-store' })).toBeNull()
  })

  it('where the cache is on anyway, Helicone-Cache-Control says how old an answer may be', async () => {
    const clock = fakeClock()
    await start({ env: { DEDUP_TTL_MS: '3600000' }, ports: { clock } })
    const cacheOf = async (headers: Record<string, string>) => (await ask(t, headers)).headers.get('x-gateway-cache')
    await cacheOf({})
    await clock.advance('61s')
    expect(await cacheOf({ 'helicone-cache-control': 'max-age=120' })).toBe('hit')
    expect(await cacheOf({ 'helicone-cache-control': 'max-age=60' })).toBe('miss')
    expect(await cacheOf({ 'helicone-cache-control': 'max-age=0' })).toBe('miss')
  })

  it('false passes the cache by', async () => {
    await start({ env: { DEDUP_TTL_MS: '60000' } })
    await ask(t)
    expect((await ask(t, { 'helicone-property-a': 'b' })).headers.get('helicone-cache')).toBe('HIT')
    expect((await ask(t, { 'helicone-cache-enabled': 'false' })).headers.get('x-gateway-cache')).toBe('miss')
    expect(t.upstream.requests).toHaveLength(2)
  })

  it('a seed is a name space, ignored keys are no part of the key, and keys share nothing', async () => {
    await start()
    const [one, two] = [await makeKey(t, { label: 'one' }), await makeKey(t, { label: 'two' })]
    const ignoring = { ...CACHED, 'helicone-cache-ignore-keys': '["user"]' }
    const cacheOf = async (headers: Record<string, string>, more = {}) =>
      (await ask(t, headers, { more })).headers.get('helicone-cache')
    expect(await cacheOf({ ...CACHED, ...bearer(one.key) })).toBe('MISS')
    expect(await cacheOf({ ...CACHED, ...bearer(one.key) })).toBe('HIT')
    expect(await cacheOf({ ...CACHED, ...bearer(two.key) })).toBe('MISS')
    expect(await cacheOf({ ...CACHED, ...bearer(one.key), 'helicone-cache-seed': 'mine' })).toBe('MISS')
    expect(await cacheOf(ignoring, { user: 'a' })).toBe('MISS')
    expect(await cacheOf({ ...ignoring, 'helicone-cache-ignore-keys': ' user ' }, { user: 'b' })).toBe('HIT')
  })

  it('a bucket fills before it gives, and is at most 20', async () => {
    await start()
    const bucket = { ...CACHED, 'helicone-cache-bucket-max-size': '2' }
    const seen = []
    for (let turn = 0; turn < 3; turn++) {
      const { headers } = await ask(t, bucket)
      seen.push(headers.get('helicone-cache'))
    }
    expect(seen).toEqual(['MISS', 'MISS', 'HIT'])
    const refused = await ask(t, { ...CACHED, 'helicone-cache-bucket-max-size': '21' })
    expect([refused.status, errorIn(refused).param]).toEqual([400, 'Helicone-Cache-Bucket-Max-Size'])
  })
})

describe('retries', () => {
  const RETRY = { 'helicone-retry-enabled': 'true', 'helicone-retry-min-timeout': '0' }

  it('asks the same account again after 429 and 5xx, and not without the header', async () => {
    await start({ upstream: [fail(500), fail(503), text('third')] })
    const seen = await ask(t, RETRY)
    expect([seen.status, seen.headers.get('x-gateway-attempts')]).toEqual([200, '3'])
    expect(lastContext(t).attempts.map(({ action }) => action)).toEqual(['retried', 'retried', 'returned'])
    t.upstream.script(fail(500), text('second'))
    expect((await ask(t, { 'helicone-property-a': 'b' })).status).toBe(500)
  })

  it('stops after num, at 400, and where the upstream wants a longer pause than max-timeout', async () => {
    await start({ upstream: [fail(500)] })
    await ask(t, { ...RETRY, 'helicone-retry-num': '1' })
    expect(t.upstream.requests).toHaveLength(2)
    t.upstream.script(fail(400))
    await ask(t, RETRY, { dialect: 'messages' })
    expect(t.upstream.requests).toHaveLength(3)
    t.upstream.script(fail(429, { headers: { 'retry-after': '30' } }))
    await ask(t, RETRY, { dialect: 'responses' })
    expect(t.upstream.requests).toHaveLength(4)
  })

  it('pauses for 1 s, then 2 s, by default', async () => {
    const clock = fakeClock()
    await start({ upstream: [fail(500), fail(500), text('third')], ports: { clock } })
    const answering = ask(t, { 'helicone-retry-enabled': 'true' })
    while (t.upstream.requests.length < 3) {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(250)
    }
    expect((await answering).status).toBe(200)
    const times = t.settled[0]?.ctx.attempts.map(({ startedAt }) => startedAt) ?? []
    const [first = 0, second = 0, third = 0] = times
    expect(second - first).toBeGreaterThanOrEqual(1000)
    expect(third - second).toBeGreaterThanOrEqual(2000)
  })
})

describe('Helicone-RateLimit-Policy', () => {
  it('limits requests of a key, says what is left, and is another key’s no matter', async () => {
    await start()
    const [one, two] = [await makeKey(t, { label: 'one' }), await makeKey(t, { label: 'two' })]
    const policy = { 'helicone-ratelimit-policy': '2;w=60' }
    const left = async (key: string) => {
      const seen = await ask(t, { ...policy, ...bearer(key) })
      return [seen.status, seen.headers.get('helicone-ratelimit-remaining'), seen.headers.get('helicone-ratelimit-policy')]
    }
    const shown = '2;w=60;u=request'
    expect(await left(one.key)).toEqual([200, '1', shown])
    expect(await left(one.key)).toEqual([200, '0', shown])
    expect(await left(one.key)).toEqual([429, '0', shown])
    const refused = await ask(t, { ...policy, ...bearer(one.key) })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect(await left(two.key)).toEqual([200, '1', shown])
  })

  it('counts each user, or each value of a property, by itself', async () => {
    await start()
    const statusOf = async (user: string, segment: string) =>
      (
        await ask(t, {
          'helicone-ratelimit-policy': `1;w=60;s=${segment}`,
          'helicone-user-id': user,
          'helicone-property-team': user,
        })
      ).status
    for (const segment of ['user', 'team']) {
      expect(await statusOf('ada', segment)).toBe(200)
      expect(await statusOf('ada', segment)).toBe(429)
      expect(await statusOf('eve', segment)).toBe(200)
    }
  })

  it('counts cents by what was paid', async () => {
    const threeCents = { costNano: 30_000_000, chargeNano: 30_000_000, ref: 'test' }
    const prices = definePlugin({
      name: 'prices',
      setup: (gateway) => gateway.provide('prices', { price: () => threeCents }),
    })
    await start({ config: { plugins: [...preset({ pricing: false }), prices()] } })
    const seen = []
    for (let turn = 0; turn < 3; turn++) {
      const { status, headers } = await ask(t, { 'helicone-ratelimit-policy': '5;w=60;u=cents' })
      seen.push([status, headers.get('helicone-ratelimit-remaining')])
    }
    expect(seen).toEqual([
      [200, '5'],
      [200, '2'],
      [429, '0'],
    ])
  })

  it.each(['nonsense', '0;w=60', '1;w=59', '1;w=60;u=tokens', '1'])('one that cannot be read is none: %s', async (policy) => {
    await start()
    for (let turn = 0; turn < 2; turn++) {
      const seen = await ask(t, { 'helicone-ratelimit-policy': policy })
      expect([seen.status, seen.headers.get('helicone-ratelimit-limit')]).toEqual([200, null])
    }
  })
})

describe('Helicone-Fallbacks', () => {
  const entry = (dialect: 'chat' | 'messages', model: string, onCodes?: unknown[]) => ({
    'target-url': t.upstream.baseUrl(dialect) + (dialect === 'messages' ? '/messages' : '/chat/completions'),
    headers: { authorization: 'Bearer sk-canary' },
    bodyKeyOverride: { model },
    ...(onCodes && { onCodes }),
  })
  const list = (...entries: object[]) => ({ 'helicone-fallbacks': JSON.stringify(entries) })

  it('another model of a configured provider answers when the asked one fails', async () => {
    await start({ upstream: [fail(500), text('other')] })
    const seen = await ask(t, list(entry('chat', 'backup')))
    expect([seen.status, seen.headers.get('helicone-fallback-index')]).toEqual([200, '1'])
    expect(t.upstream.requests.map(({ json }) => json.model)).toEqual(['m', 'backup'])
    expect(JSON.stringify(t.upstream.requests)).not.toContain('sk-canary')
    expect((await ask(t, list(entry('chat', 'backup')), { dialect: 'messages' })).headers.get('helicone-fallback-index')).toBe(
      '0',
    )
  })

  it('an address that is nobody’s is not followed, and said', async () => {
    await start({ upstream: [fail(500)] })
    const stranger = { 'target-url': 'http://127.0.0.1:9/v1', bodyKeyOverride: { model: 'm' } }
    const seen = await ask(t, list(stranger))
    expect(seen.headers.get('x-gateway-warnings')).toContain('fallback_ignored')
    expect(t.upstream.requests).toHaveLength(1)
  })

  it('a virtual model has its own list', async () => {
    await start({ upstream: [fail(500)] })
    const made = await t.post('/api/virtual-models', { name: 'vm', strategy: 'failover', targets: ['chat/m'] })
    expect(made.status).toBe(201)
    const seen = await ask(t, list(entry('chat', 'backup')), { more: { model: 'vm' } })
    expect([seen.status, seen.headers.get('x-gateway-warnings')]).toEqual([500, 'fallback_ignored'])
    expect(t.upstream.requests).toHaveLength(1)
  })

  it('a model the key may not use is none', async () => {
    await start({ upstream: [fail(500)] })
    const { key } = await makeKey(t, { allowed_models: ['chat/m'] })
    const seen = await ask(t, { ...list(entry('chat', 'secret')), ...bearer(key) })
    expect([seen.status, seen.headers.get('x-gateway-warnings')]).toEqual([500, 'fallback_ignored'])
    expect(t.upstream.requests).toHaveLength(1)
  })

  it.each([
    [[400], 400, 2],
    [[{ from: 400, to: 499 }], 404, 2],
    [[429], 500, 1],
  ])('codes %j and status %i make %i calls', async (codes, status, calls) => {
    await start({ upstream: [fail(status), text('other')] })
    await ask(t, list(entry('chat', 'backup', codes)))
    expect(t.upstream.requests).toHaveLength(calls)
  })

  it('JSON that is none is 400', async () => {
    await start()
    for (const value of ['[{', '{}']) {
      const seen = await ask(t, { 'helicone-fallbacks': value })
      expect([seen.status, errorIn(seen).param]).toEqual([400, 'Helicone-Fallbacks'])
    }
    expect(t.upstream.requests).toHaveLength(0)
  })

  it('what a fallback answered is not given to who asked without it', async () => {
    await start({ upstream: [fail(500), text('other'), text('asked')] })
    const fallbacks = { ...CACHED, ...list(entry('chat', 'backup')) }
    expect((await ask(t, fallbacks)).text).toContain('other')
    expect((await ask(t, fallbacks)).headers.get('helicone-cache')).toBe('HIT')
    expect((await ask(t, CACHED)).headers.get('helicone-cache')).not.toBe('HIT')
  })
})

describe('Helicone-Target-URL', () => {
  it('says which configured provider a bare model id means', async () => {
    await start()
    const more = { model: 'some-model' }
    expect((await ask(t, {}, { more })).status).toBe(400)
    expect((await ask(t, { 'helicone-target-url': t.upstream.baseUrl('generate_content') }, { more })).status).toBe(200)
    expect(t.upstream.requests.map(({ path }) => path)).toEqual(['/v1beta/models/some-model:generateContent'])
    expect((await ask(t, { 'helicone-target-url': 'http://127.0.0.1:9' }, { more })).status).toBe(400)
    expect((await ask(t, { 'helicone-target-url': 'http://127.0.0.1:9' })).headers.get('x-gateway-provider')).toBe('chat')
  })
})
