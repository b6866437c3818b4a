// The exact cache for embeddings: the same scope and promises as for chat.
import { afterEach, expect, it } from 'vitest'
import { type Vendors, vendors } from '../../operations/support.ts'
import { HOUR, type Seen, seenOf } from './support.ts'

let v: Vendors
afterEach(() => v.close())

async function start(config: object = {}): Promise<void> {
  v = await vendors(['openai', 'cohere'], { env: HOUR, config: config as never })
}

async function embed(body: object, headers: Record<string, string> = {}): Promise<Seen> {
  const settled = v.t.settled.length
  const seen = await seenOf(await v.t.post('/v1/embeddings', { model: 'openai/e', ...body }, headers))
  await v.t.untilSettled(settled + 1)
  return seen
}

it('gives the same bytes again, at no cost', async () => {
  await start()
  const first = await embed({ input: ['a', 'b'] })
  const again = await embed({ input: ['a', 'b'] })
  expect([first.cache, again.cache, again.type]).toEqual(['miss', 'hit', 'exact'])
  expect(again.bytes.equals(first.bytes)).toBe(true)
  expect(v.vendor.requests).toHaveLength(1)
  expect(v.t.settled[1]?.outcome).toMatchObject({ cached: 'exact', steps: [], usage: { total: 0 } })
  expect(v.t.settled[1]?.outcome.cachedCall).toMatchObject({ provider: 'openai', model: 'e' })
})

it.each([
  ['another input', { input: ['a', 'c'] }],
  ['another order', { input: ['b', 'a'] }],
  ['another encoding', { input: ['a', 'b'], encoding_format: 'base64' }],
  ['other dimensions', { input: ['a', 'b'], dimensions: 2 }],
  ['another model', { input: ['a', 'b'], model: 'cohere/e' }],
])('%s is another call', async (_, body) => {
  await start()
  await embed({ input: ['a', 'b'] })
  expect((await embed(body)).cache).toBe('miss')
  expect(v.vendor.requests).toHaveLength(2)
})

it('in the format of Google: the same bytes again, and another verb is another call', async () => {
  await start()
  const content = { parts: [{ text: 'a' }] }
  const both = { content, requests: [{ content }] }
  const google = async (verb: string) => seenOf(await v.t.post(`/v1beta/models/openai/e:${verb}`, both))
  const one = await google('embedContent')
  const several = await google('batchEmbedContents')
  expect([one.cache, several.cache, v.vendor.requests.length]).toEqual(['miss', 'miss', 2])
  const again = [await google('embedContent'), await google('batchEmbedContents')]
  expect(again.map(({ cache, bytes }) => [cache, bytes.toString()])).toEqual([
    ['hit', one.bytes.toString()],
    ['hit', several.bytes.toString()],
  ])
  expect(v.vendor.requests).toHaveLength(2)
})

it('equal requests at the same time share one call', async () => {
  await start()
  const answers = await Promise.all(
    [1, 2, 3].map(async () => seenOf(await v.t.post('/v1/embeddings', { model: 'openai/e', input: 'a' }))),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(v.vendor.requests).toHaveLength(1)
})

it('a redacted request has the key of what is sent', async () => {
  await start({ settings: { 'guardrails.enabled': true, 'guardrails.pii.mode': 'redact' } })
  await embed({ input: 'write to ada@example.com' })
  expect((await embed({ input: 'write to ada@example.com' })).cache).toBe('hit')
  expect((await embed({ input: 'write to ada@example.com!' })).cache).toBe('miss')
  expect(v.vendor.requests).toHaveLength(2)
})

it('`cache-control: no-cache` asks the vendor', async () => {
  await start()
  await embed({ input: 'a' })
  await embed({ input: 'a' }, { 'cache-control': 'no-cache' })
  expect(v.vendor.requests).toHaveLength(2)
})

it('keeps nothing of a failure', async () => {
  v = await vendors(['openai'], {
    env: HOUR,
    upstream: [{ kind: 'raw', status: 400, body: '{"error":{"message":"no"}}' } as never],
  })
  expect((await embed({ input: 'a' })).status).toBe(400)
  expect((await embed({ input: 'a' })).status).toBe(400)
  expect(v.vendor.requests).toHaveLength(2)
})
