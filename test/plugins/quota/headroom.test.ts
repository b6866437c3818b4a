// The remaining quota of an account for routers: the tightest active window.
import { afterEach, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import type { QuotaReading } from '../../../plugins/quota/service.ts'
import { add, call } from '../connections/support.ts'
import { type World, world } from './support.ts'

let w: World
afterEach(() => w.close())

/** The account that answered last. */
const account = (): Connection => w.settled.at(-1)?.ctx.candidate?.connection as Connection
const left = (model = 'm') => w.service.remainingFraction(account(), model)
const answered = async (headers: Record<string, string>, model = 'chat/m') => {
  w.upstream.script(text('hi', { headers }))
  await (await w.send(model)).arrayBuffer()
}

it('is not known before somebody has said something with a limit', async () => {
  w = await world()
  await answered({})
  expect(left()).toBeNull()
  await answered({ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '60s' })
  expect(left()).toBeNull()
})

it('is the smallest share of all windows that hold for the model, and a window is over at its reset', async () => {
  w = await world()
  await answered({
    'x-ratelimit-limit-requests': '100',
    'x-ratelimit-remaining-requests': '80',
    'x-ratelimit-reset-requests': '30s',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '120',
    'x-ratelimit-reset-tokens': '10s',
  })
  expect([left(), left('other')]).toEqual([0.12, null])
  await w.clock.advance('9s')
  expect(left()).toBe(0.12)
  await w.clock.advance('1s')
  expect(left()).toBe(0.8)
  await w.clock.advance('20s')
  expect(left()).toBeNull()
})

it('counts the percent windows of a subscription, those of a model family for that family only', async () => {
  w = await world()
  const reset = String(w.clock.now() / 1000 + 3600)
  await answered({
    'anthropic-ratelimit-unified-5h-utilization': '0.4',
    'anthropic-ratelimit-unified-5h-reset': reset,
    'anthropic-ratelimit-unified-7d_opus-utilization': '0.95',
    'anthropic-ratelimit-unified-7d_opus-reset': reset,
  })
  expect(left()).toBeCloseTo(0.6)
  expect(left('claude-opus-4')).toBeCloseTo(0.05)
})

it('a window without a reset holds a minute when an answer said it, ten when the usage API did', async () => {
  w = await world()
  await answered({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '3' })
  await w.clock.advance('60s')
  expect(left()).toBe(0.3)
  await w.clock.advance('1s')
  expect(left()).toBeNull()
  const reading: QuotaReading = {
    plan: null,
    windows: [{ name: 'usd', unit: 'usd', model: null, used: 9, limit: 10, remaining: 1, resetsAt: null, exhausted: false }],
  }
  w.service.driver({ provider: account().provider, read: async () => reading })
  expect((await w.post('/api/quota/refresh', {})).status).toBe(200)
  await w.clock.advance('10m')
  expect(left()).toBe(0.1)
  await w.clock.advance('1s')
  expect(left()).toBeNull()
})

it('is unknown again for a connection with another key', async () => {
  w = await world()
  const up = { provider: 'acme', base_url: w.upstream.baseUrl('chat'), wire_format: 'chat', api_key: 'sk-one-key' }
  const { id } = await add(w, up)
  const tight = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '5h' }
  await answered(tight, 'acme/m')
  expect(left()).toBe(0.1)
  await call(w, 'PUT', `/api/providers/${id}`, { label: 'renamed' })
  await answered({}, 'acme/m')
  expect(left()).toBe(0.1)
  await call(w, 'PUT', `/api/providers/${id}`, { api_key: 'sk-two-key' })
  await answered({}, 'acme/m')
  expect(left()).toBeNull()
})
