// Other plugins' cache directives for one request, and their additions to every key.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { CacheDirectives } from '../../../plugins/exact-cache/service.ts'
import { preset } from '../../../plugins/preset.ts'
import { ask, bodyOf, HOUR, type Inside, wishing } from './support.ts'

let t: TestGateway
let inside: Inside
afterEach(() => t.close())

async function open(options: TestGatewayOptions = {}): Promise<void> {
  const directives = wishing()
  inside = directives.inside
  t = await createTestGateway({ ...options, plugins: [directives.plugin] })
}

const asking = (directives: CacheDirectives, more: object = {}) =>
  ask(t, 'chat', bodyOf('chat', 'hi', more), { 'x-wishes': JSON.stringify(directives) })

it('a lifetime of its own switches the cache on for one request, and off', async () => {
  const clock = fakeClock()
  await open({ ports: { clock } })
  await asking({ ttlMs: 1000 })
  expect((await asking({ ttlMs: 1000 })).cache).toBe('hit')
  expect((await ask(t, 'chat', bodyOf('chat', 'hi'))).cache).toBe('miss')
  await clock.advance(600)
  expect((await asking({ ttlMs: 1000 })).cache).toBe('hit')
  // A request never gets an answer older than it accepts.
  expect((await asking({ ttlMs: 500 })).cache).toBe('miss')
  expect((await asking({ ttlMs: 0 })).cache).toBe('miss')
  await clock.advance(1000)
  expect((await asking({ ttlMs: 1000 })).cache).toBe('miss')
})

it('a seed is a name space of its own', async () => {
  await open({ env: HOUR })
  for (const seed of ['a', 'b', '']) expect((await asking({ seed })).cache).toBe('miss')
  for (const seed of ['a', 'b', '']) expect((await asking({ seed })).cache).toBe('hit')
})

it('members that are to be ignored do not make another request', async () => {
  await open({ env: HOUR })
  await asking({ ignoreKeys: ['user'] }, { user: 'u1' })
  expect((await asking({ ignoreKeys: ['user'] }, { user: 'u2' })).cache).toBe('hit')
  expect((await asking({ ignoreKeys: ['user'] }, { user: 'u2', temperature: 1 })).cache).toBe('miss')
  expect((await asking({}, { user: 'u2' })).cache).toBe('miss')
})

it('a bucket is filled with so many answers before one of them is drawn', async () => {
  const draws = [0.99, 0, 0.5]
  await open({
    env: HOUR,
    upstream: [text('one'), text('two'), text('three')],
    config: { plugins: preset({ exactCache: { random: () => draws.shift() ?? 0 } }) },
  })
  const filled = []
  for (let i = 0; i < 3; i++) filled.push(await asking({ bucketSize: 3 }))
  expect(filled.map(({ cache }) => cache)).toEqual(['miss', 'miss', 'miss'])
  expect(t.settled.map(({ ctx }) => inside.cache.lookup(ctx))).toEqual([
    { hit: false, bucketIndex: 0 },
    { hit: false, bucketIndex: 1 },
    { hit: false, bucketIndex: 2 },
  ])
  draws.splice(0, draws.length, 0.99, 0, 0.5)
  for (const index of [2, 0, 1]) {
    const seen = await asking({ bucketSize: 3 })
    expect(seen.cache).toBe('hit')
    expect(seen.bytes.equals(filled[index]?.bytes as Buffer)).toBe(true)
    expect(inside.cache.lookup(t.settled.at(-1)?.ctx as never)).toEqual({ hit: true, bucketIndex: index })
  }
  expect(t.upstream.requests).toHaveLength(3)
})

describe('stricter directives stay', () => {
  beforeEach(() => open({ env: HOUR }))

  it('bypass: neither asked nor filled', async () => {
    await asking({ bypass: true })
    expect((await asking({})).cache).toBe('miss')
    expect((await asking({ bypass: true })).cache).toBe('miss')
    expect(inside.cache.lookup(t.settled.at(-1)?.ctx as never)).toBeNull()
  })

  it('noStore: asked, not filled', async () => {
    await asking({ noStore: true })
    expect((await asking({})).cache).toBe('miss')
    expect((await asking({ noStore: true })).cache).toBe('hit')
  })

  it('what one plugin forbade no other allows', async () => {
    await asking({})
    const ctx = t.settled[0]?.ctx as never
    inside.cache.request(ctx, { bypass: true, noStore: true, seed: 'a' })
    inside.cache.request(ctx, { bypass: false, noStore: false, ttlMs: 5 })
    expect(inside.cache.directives(ctx)).toEqual({ bypass: true, noStore: true, seed: 'a', ttlMs: 5 })
  })
})

it('with another version of a policy nothing old is found, and with the old one it is again', async () => {
  await open({ env: HOUR })
  let rules = 1
  inside.policy.version('rules', () => rules)
  inside.policy.version('level', 'lite')
  await asking({})
  expect((await asking({})).cache).toBe('hit')
  rules = 2
  expect((await asking({})).cache).toBe('miss')
  inside.policy.version('level', null)
  expect((await asking({})).cache).toBe('miss')
  rules = 1
  inside.policy.version('level', 'lite')
  expect((await asking({})).cache).toBe('hit')
})
