// Precision: sampled hits are answered by the model and compared, thresholds rise, routes are disabled.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { text } from '../../../adapters/testing/script.ts'
import { localEmbedder, seeded } from '../../../bench/paraphrases/embedder.ts'
import { labelledPairs } from '../../../bench/paraphrases/pairs.ts'
import { ask as asking, bodyOf, put } from '../exact-cache/support.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { routes, type Site, type SiteOptions, site, turns } from './support.ts'

let s: Site
afterEach(() => s.close())

/** Every hit is a sample, and each answer is a different text. */
async function open(options: SiteOptions = {}, rate = '1'): Promise<void> {
  const answers = Array.from({ length: 200 }, (_, n) => text(`answer number ${n}`))
  const judge = localEmbedder()
  const vectorOf = (said: string) => (said === 'q' ? [1, 0] : judge(said))
  s = await site({ upstream: answers, vectorOf, env: { SEMANTIC_CACHE_REVALIDATE_RATE: rate }, ...options })
}

async function ask(prompt: string, headers: Record<string, string> = {}, model = 'chat/m') {
  const settled = s.t.settled.length
  const seen = await asking(s.t, 'chat', bodyOf('chat', prompt, { model }), headers)
  await s.t.untilSettled(settled + 1)
  await turns()
  return { ...seen, said: seen.status === 200 ? JSON.parse(seen.bytes.toString()).choices[0].message.content : null }
}

const route = async () => (await routes(s.t))[0]
const sampled = (count: number) => expect.poll(async () => (await route())?.samples, { interval: 5 }).toBe(count)

it('a sample is a miss with a fresh answer, and its caller waits for no comparison', async () => {
  const draws = [0.05, 0.049, 0.5]
  await open({ semanticCache: { random: () => draws.shift() ?? 1 } }, '0.05')
  expect(await ask('q')).toMatchObject({ cache: 'miss', said: 'answer number 0' })
  expect(await ask('q')).toMatchObject({ cache: 'hit', said: 'answer number 0' })
  expect(await ask('q')).toMatchObject({ cache: 'miss', type: null, said: 'answer number 1' })
  await sampled(1)
  // The fresh one is the newest of equals.
  expect(await ask('q')).toMatchObject({ cache: 'hit', said: 'answer number 1' })
  expect(await route()).toEqual({
    route: 'chat/m',
    key_id: null,
    threshold: 0.95,
    precision: 0,
    samples: 1,
    disabled: false,
    hits: 2,
    misses: 1,
  })
})

it('answers agree when their words do, or when their embeddings are closer than 0.90', async () => {
  const vectorOf = (said: string) =>
    ({ Yes: [1, 0], Certainly: [0.91, Math.sqrt(1 - 0.91 ** 2)] })[said] ?? (said === 'q' ? [1, 0] : [0, 1])
  await open({ vectorOf, upstream: ['Yes', ' YES! ', 'Certainly', 'Yes', 'No'].map((said) => text(said)) })
  for (let i = 0; i < 3; i++) await ask('q')
  // The second sample compares "Certainly" with " YES! ", whose vectors are orthogonal here.
  await sampled(2)
  expect((await route())?.precision).toBe(0.5)
  await ask('q')
  await sampled(3)
  expect((await route())?.precision).toBeCloseTo(2 / 3)
  await ask('q')
  await sampled(4)
  expect((await route())?.precision).toBe(0.5)
  expect(s.embed.asked.filter(({ input }) => input.length === 2).map(({ input }) => input)).toEqual([
    [' YES! ', 'Certainly'],
    ['Certainly', 'Yes'],
    ['Yes', 'No'],
  ])
})

it('twenty disagreements raise the threshold, step by step to 0.99, then shut the route off for a day', {
  timeout: 180_000,
}, async () => {
  const clock = fakeClock()
  await open({ ports: { clock } })
  await ask('q')
  for (const threshold of [0.96, 0.97, 0.98, 0.99]) {
    for (let i = 0; i < 19; i++) await ask('q')
    await sampled(19)
    await ask('q')
    await sampled(0)
    expect(await route()).toMatchObject({ threshold, disabled: false, precision: null })
  }
  for (let i = 0; i < 20; i++) await ask('q')
  await expect.poll(async () => (await route())?.disabled).toBe(true)
  const embedded = s.embed.asked.length
  expect((await ask('q')).cache).toBe('miss')
  expect(s.embed.asked).toHaveLength(embedded)
  // Another route is not affected.
  await ask('q', {}, 'chat/other')
  expect(s.embed.asked).toHaveLength(embedded + 1)
  await clock.advance('24h')
  await ask('q')
  expect(s.embed.asked).toHaveLength(embedded + 2)
  expect(await route()).toMatchObject({ disabled: false, threshold: 0.99 })
})

it('eighteen of twenty are at the floor of 0.90, and the threshold stays', async () => {
  const answers = Array.from({ length: 21 }, (_, n) => text(n === 5 ? 'odd' : 'same'))
  await open({ upstream: answers })
  for (let i = 0; i < 21; i++) await ask('q')
  await sampled(20)
  expect(await route()).toMatchObject({ threshold: 0.95, precision: 0.9 })
})

it('of the last fifty only', { timeout: 60_000 }, async () => {
  await open({
    upstream: [text('odd'), text('same')],
    env: { SEMANTIC_CACHE_REVALIDATE_RATE: '1', SEMANTIC_CACHE_PRECISION_FLOOR: '0.5' },
  })
  for (let i = 0; i < 2; i++) await ask('q')
  // The one that disagrees is the first.
  await sampled(1)
  for (let i = 0; i < 50; i++) await ask('q')
  await expect.poll(async () => (await route())?.precision).toBe(1)
  expect((await route())?.samples).toBe(50)
})

it('a change of the settings begins again', async () => {
  await open()
  for (let i = 0; i < 21; i++) await ask('q')
  await expect.poll(async () => (await route())?.threshold).toBe(0.96)
  await put(s.t, { semantic_cache: { threshold: 0.9 } })
  expect(await routes(s.t)).toEqual([])
  await ask('q')
  expect(await route()).toMatchObject({ threshold: 0.9, samples: 1, misses: 0 })
})

it('routes are counted by key', async () => {
  await open({}, '0')
  const key = await makeKey(s.t)
  for (const headers of [{}, bearer(key.key), bearer(key.key)]) await ask('q', headers)
  expect((await routes(s.t)).map(({ key_id, hits, misses }) => [key_id, hits, misses])).toEqual([
    [null, 0, 1],
    [key.id, 1, 1],
  ])
})

describe('over the labelled pairs', () => {
  it.each([
    ['as it is', {}, false],
    ['one to which everything is alike', { collapse: 6 }, true],
  ] as const)('the floor holds with the embedder %s', { timeout: 120_000 }, async (_, options, shutOff) => {
    const pairs = labelledPairs()
    // Equal texts have equal answers. A separate embedder compares answers, so that only the prompts' embedder is degraded.
    const truth = new Map<string, string>()
    for (const { a, b, same } of pairs) {
      truth.set(a, truth.get(a) ?? `It is as follows: ${a}`)
      truth.set(b, same ? (truth.get(a) as string) : `Rather this: ${b}`)
    }
    const judge = localEmbedder()
    const prompts = localEmbedder(options)
    const random = seeded(7)
    let serving = ''
    s = await site({
      vectorOf: (said) => (truth.has(said) ? prompts(said) : judge(said)),
      semanticCache: { random },
      env: { SEMANTIC_CACHE_REVALIDATE_RATE: '0.5' },
    })
    const wrong: boolean[] = []
    for (let asked = 0; asked < 400 && (await route())?.disabled !== true; asked++) {
      const { a, b } = pairs[Math.floor(random() * pairs.length)] as (typeof pairs)[number]
      serving = random() < 0.5 ? a : b
      s.up.script(text(truth.get(serving) as string))
      const { cache, said } = await ask(serving)
      if (cache === 'hit') wrong.push(said !== truth.get(serving))
    }
    expect(wrong.length).toBeGreaterThan(50)
    expect((await route())?.disabled).toBe(shutOff)
    if (shutOff) {
      expect((await ask(serving)).cache).toBe('miss')
    } else expect(wrong.filter((one) => !one).length / wrong.length).toBeGreaterThanOrEqual(0.9)
  })
})
