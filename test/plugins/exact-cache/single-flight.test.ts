// Concurrent equal requests: one calls upstream, the others wait for it, and none waits in vain.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, hang, reply, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { bodyOf, CACHED, HOUR, pathOf, seenOf } from './support.ts'

let t: TestGateway
afterEach(() => t.close())

const send = (signal?: AbortSignal) =>
  t.fetch('/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(bodyOf('chat')),
    headers: { 'content-type': 'application/json' },
    ...(signal && { signal }),
  })
const many = async (count: number) => Promise.all((await Promise.all(Array.from({ length: count }, () => send()))).map(seenOf))
const caches = (seen: readonly { cache: string | null }[]) => seen.map(({ cache }) => cache).sort()

it.each(CACHED)('%s: a hundred at once are one upstream call and one answer', async (dialect) => {
  t = await createTestGateway({ env: HOUR, upstream: [text('the one', { delayMs: 50 }), text('another')] })
  const body = bodyOf(dialect)
  const seen = await Promise.all(Array.from({ length: 100 }, async () => seenOf(await t.post(pathOf(dialect), body))))
  expect(t.upstream.requests).toHaveLength(1)
  expect(caches(seen)).toEqual([...Array(99).fill('hit'), 'miss'])
  expect(new Set(seen.map(({ bytes }) => bytes.toString('base64'))).size).toBe(1)
  await t.untilSettled(100)
})

it('when the one that asks fails, the others ask for themselves, and the first good answer is kept', async () => {
  t = await createTestGateway({ env: HOUR, upstream: [fail(400, { delayMs: 50 }), text('good')] })
  const seen = await many(5)
  expect(seen.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 400])
  expect(t.upstream.requests).toHaveLength(5)
  expect((await many(1))[0]).toMatchObject({ cache: 'hit' })
})

it('an answer that may not be kept is not given to those who wait', async () => {
  t = await createTestGateway({ env: HOUR, upstream: [reply({ text: 'half', finish: 'length' }, { delayMs: 50 }), text('good')] })
  const seen = await many(3)
  expect(caches(seen)).toEqual(['miss', 'miss', 'miss'])
  expect(t.upstream.requests).toHaveLength(3)
})

it('when the caller of the one that asks leaves, one of the others asks and the rest follow it', async () => {
  t = await createTestGateway({ env: HOUR, upstream: [hang(), text('good', { delayMs: 50 })] })
  const leaving = new AbortController()
  const leader = send(leaving.signal).catch(() => null)
  await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
  const following = many(3)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(t.upstream.requests).toHaveLength(1)
  leaving.abort()
  await leader
  expect(caches(await following)).toEqual(['hit', 'hit', 'miss'])
  expect(t.upstream.requests).toHaveLength(2)
})

it('one that waits and whose caller leaves is booked as gone, and asks nobody', async () => {
  t = await createTestGateway({ env: HOUR, upstream: [text('the one', { delayMs: 2500 })] })
  const leader = many(1)
  await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
  const leaving = new AbortController()
  const follower = send(leaving.signal).catch(() => null)
  await new Promise((resolve) => setTimeout(resolve, 30))
  leaving.abort()
  await follower
  await t.untilSettled(1)
  expect(t.settled[0]?.outcome).toMatchObject({ status: 499, steps: [], cached: false })
  expect((await leader)[0]).toMatchObject({ status: 200, cache: 'miss' })
  expect(t.upstream.requests).toHaveLength(1)
})

it('nobody waits longer than the window', async () => {
  const clock = fakeClock()
  t = await createTestGateway({ env: { DEDUP_TTL_MS: '1000' }, ports: { clock }, upstream: [hang(), text('good')] })
  const leaving = new AbortController()
  const leader = send(leaving.signal).catch(() => null)
  await expect.poll(() => t.upstream.requests.length, { interval: 1 }).toBe(1)
  const following = many(1)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(t.upstream.requests).toHaveLength(1)
  await clock.advance(1000)
  expect((await following)[0]).toMatchObject({ status: 200, cache: 'miss' })
  leaving.abort()
  await leader
  await t.untilSettled(2)
})

it('a window longer than any timer is waited for, not skipped', async () => {
  t = await createTestGateway({ env: { DEDUP_TTL_MS: String(365 * 86_400_000) }, upstream: [text('the one', { delayMs: 80 })] })
  expect(caches(await many(4))).toEqual(['hit', 'hit', 'hit', 'miss'])
  expect(t.upstream.requests).toHaveLength(1)
})
