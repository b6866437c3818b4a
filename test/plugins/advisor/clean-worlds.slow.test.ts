// Traffic without anything to improve: no recommendation is made up.
import { afterEach, expect, it } from 'vitest'
import { times, virtualModel, type World, words, world } from './support.ts'

let w: World
afterEach(() => w.t.close())

it.each(Array.from({ length: 30 }, (_, seed) => seed))('clean world %i gives no recommendation', async (seed) => {
  w = await world()
  w.usage = { input: 300 + seed * 50, output: 20 + seed * 10 }
  const targets = seed % 2 === 0 ? ['chat/cheap', 'messages/cheap'] : ['messages/cheap', 'chat/dear']
  await virtualModel(w, 'coder', targets, { strategy: ['failover', 'load_balance', 'latency_based'][seed % 3] })
  if (seed % 5 === 0) w.failing.set('chat/cheap', 0.05)
  await times(52, (index) =>
    w.ask({ model: seed % 3 === 1 ? 'chat/cheap' : 'coder', text: words(seed * 100 + index), stream: index % 2 === 0 }),
  )
  expect(await w.advice()).toEqual([])
})
