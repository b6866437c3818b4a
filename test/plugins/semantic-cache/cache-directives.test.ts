// Cache directives of one request apply to answers by similarity as well: name space, accepted age, and several answers before one is
// drawn.
import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { ask as asking, bodyOf, put } from '../exact-cache/support.ts'
import { type Site, type SiteOptions, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

const ANSWERS = [text('first answer'), text('second answer'), text('third answer')]

async function open(options: SiteOptions = {}): Promise<void> {
  s = await site({ upstream: ANSWERS, ...options })
}

async function ask(prompt: string, headers: Record<string, string> = {}) {
  const seen = await asking(s.t, 'chat', bodyOf('chat', prompt), headers)
  await turns()
  return seen
}

it('another seed is another name space', async () => {
  await open()
  expect((await ask('q', { 'helicone-cache-seed': 'ann' })).cache).toBe('miss')
  expect((await ask('q 0.99', { 'helicone-cache-seed': 'bob' })).cache).toBe('miss')
  expect((await ask('q 0.99')).cache).toBe('miss')
  expect(await ask('q 0.98', { 'helicone-cache-seed': 'ann' })).toMatchObject({ cache: 'hit', type: 'semantic' })
})

it('nothing is given that is older than the request takes', async () => {
  const clock = fakeClock()
  await open({ ports: { clock } })
  await ask('q')
  await clock.advance(60_000)
  const young = { 'helicone-cache-enabled': 'true', 'cache-control': 'max-age=60' }
  expect((await ask('q 0.99', young)).cache).toBe('miss')
  expect((await ask('q 0.98', young)).cache).toBe('hit')
})

it('an answer lives no longer than the request that it was made for says', async () => {
  const clock = fakeClock()
  await open({ ports: { clock } })
  await ask('q', { 'helicone-cache-enabled': 'true', 'cache-control': 'max-age=60' })
  await clock.advance(59_000)
  expect((await ask('q 0.99')).cache).toBe('hit')
  await clock.advance(1000)
  expect((await ask('q 0.98')).cache).toBe('miss')
})

it('a bucket of several is filled with answers of its own', async () => {
  await open()
  const two = { 'helicone-cache-enabled': 'true', 'helicone-cache-bucket-max-size': '2' }
  expect((await ask('q', two)).cache).toBe('miss')
  expect((await ask('q', two)).cache).toBe('miss')
  expect(await ask('q', two)).toMatchObject({ cache: 'hit', type: 'exact' })
  expect(s.up.requests).toHaveLength(2)
})

it('what was asked for under other rules is kept under those', async () => {
  let during: (() => Promise<void>) | null = () =>
    put(s.t, { guardrails: { enabled: true, keywords: { mode: 'log', deny: ['unrelated'] } } })
  const meanwhile = definePlugin({
    name: 'meanwhile',
    setup: (gateway) =>
      gateway.hook('attempt', async (_ctx, _candidate, next) => {
        const result = await next()
        const act = during
        during = null
        await act?.()
        return result
      }),
  })
  await open({ first: [meanwhile()] })
  expect((await ask('q')).cache).toBe('miss')
  expect((await ask('q')).cache).toBe('miss')
  expect((await ask('q')).cache).toBe('hit')
})
