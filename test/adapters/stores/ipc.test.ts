// State that workers share over their links: the contracts of every driver, equality with the memory driver, and the death of a worker.
import fc from 'fast-check'
import { createStorage } from 'unstorage'
import { afterEach, describe, expect, it } from 'vitest'
import { fallbackCounters } from '../../../adapters/stores/fallback-counters.ts'
import { ipcCounters } from '../../../adapters/stores/ipc/counters.ts'
import { fallbackLink, PATIENCE_MS } from '../../../adapters/stores/ipc/patience.ts'
import { ipcDriver } from '../../../adapters/stores/ipc/storage.ts'
import { ipcVectors } from '../../../adapters/stores/ipc/vectors.ts'
import { countersContract } from '../../../adapters/testing/contracts/counters-contract.ts'
import { vectorsContract } from '../../../adapters/testing/contracts/vectors-contract.ts'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { silentLog } from '../../../core/log.ts'
import { memoryVectors } from '../../../core/vectors/memory.ts'
import { ipcLinks, type Links } from '../../support/ipc-links.ts'

const open: Links[] = []
afterEach(async () => {
  for (const links of open.splice(0)) await links.close()
})

async function workers(count: number, clock = fakeClock(), more: object = {}): Promise<Links> {
  const links = await ipcLinks(count, { clock, ...more })
  open.push(links)
  return links
}

async function twoWorkers() {
  const clock = fakeClock()
  const links = await ipcLinks(2, { clock })
  const clocks = links.links.map(() => fakeClock())
  const alive = new Set<FakeClock>(clocks)
  return {
    instances: links.links.map((link, i) => ipcCounters(link, clocks[i] as FakeClock)),
    async advance(ms: number) {
      await clock.advance(ms)
      for (const one of alive) await one.advance(ms)
      await links.flush()
    },
    crash: (instance: number) => void alive.delete(clocks[instance] as FakeClock),
    close: () => links.close(),
  }
}

describe('a primary that does not answer', () => {
  /** A link whose calls are answered when the test says so. */
  function stalled(clock: FakeClock) {
    const answers: ((value: unknown) => void)[] = []
    const sent: unknown[][] = []
    const link = {
      call: <T>() => new Promise<T>((resolve) => void answers.push(resolve as (value: unknown) => void)),
      send: (...message: unknown[]) => void sent.push(message),
    }
    const counters = fallbackCounters({
      shared: ipcCounters(link, clock),
      local: memoryCounters(clock),
      link: fallbackLink(link, clock, silentLog),
      policy: 'local',
      clock,
    })
    return { counters, answers, sent }
  }

  it('delays three calls by a second each, and then none for five seconds', async () => {
    const clock = fakeClock()
    const { counters, answers } = stalled(clock)
    for (let call = 1; call <= 3; call++) {
      const asked = counters.take('key', { perMinute: 100 })
      await clock.advance(PATIENCE_MS)
      expect(await asked).toMatchObject({ ok: true, degraded: true })
      expect(answers).toHaveLength(call)
    }
    expect(await counters.take('key', { perMinute: 100 })).toMatchObject({ ok: true, degraded: true })
    expect(await counters.health()).toEqual({ ok: false, latency_ms: null, mode: 'local' })
    expect(answers).toHaveLength(3)
    await clock.advance(5000)
    const probe = counters.take('key', { perMinute: 100 })
    answers[3]?.({ ok: true, retryAfterMs: 0, degraded: false })
    expect(await probe).toMatchObject({ degraded: false })
    expect(await Promise.all([counters.health(), answers[4]?.(null)])).toMatchObject([{ ok: true, mode: 'primary' }, undefined])
  })

  it('gets back a lease that it grants too late', async () => {
    const clock = fakeClock()
    const { counters, answers, sent } = stalled(clock)
    const asked = counters.acquire('key', 1, 60_000)
    await clock.advance(PATIENCE_MS)
    expect(await asked).toMatchObject({ ok: true, degraded: true })
    answers[0]?.(7)
    await expect.poll(() => sent).toContainEqual(['release', 7])
  })
})

describe('counters of workers', () => {
  for (const { name, run } of countersContract('ipc', twoWorkers)) it(name, run)

  it('answer as the memory driver does, whatever is asked in whatever order', async () => {
    const clock = fakeClock()
    const { links } = await workers(2, clock)
    const memory = memoryCounters(clock)
    const shared = links.map((link) => ipcCounters(link, clock))
    const key = fc.constantFrom('a', 'b')
    const step = fc.oneof(
      fc.record({ verb: fc.constant('take' as const), key, cost: fc.nat(10) }),
      fc.record({ verb: fc.constant('burst' as const), key, cost: fc.nat(8) }),
      fc.record({ verb: fc.constant('debit' as const), key, amount: fc.nat(9) }),
      fc.record({ verb: fc.constant('once' as const), key, ttl: fc.integer({ min: 30_000, max: 90_000 }) }),
      fc.record({ verb: fc.constant('wait' as const), ms: fc.nat(70_000) }),
    )
    const limits = fc.record({ cap: fc.nat(8), perMinute: fc.nat(90), burst: fc.nat(6) })
    let run = 0
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async ({ cap, ...bucket }, steps) => {
        const name = `same${++run}`
        for (const [at, one] of steps.entries()) {
          if (one.verb === 'wait') {
            await clock.advance(one.ms)
            continue
          }
          const [expected, got] = await Promise.all(
            [memory, shared[at % 2] as typeof memory].map((counters) => {
              const place = `${name}${one.key}`
              if (one.verb === 'take') return counters.take(place, { perMinute: cap }, one.cost)
              if (one.verb === 'burst') return counters.take(`${place}b`, bucket, one.cost)
              if (one.verb === 'debit') return counters.debit(place, one.amount, 60_000)
              return counters.once(place, one.ttl)
            }),
          )
          expect(got).toEqual(expected)
        }
      }),
      { numRuns: 60, seed: 7 },
    )
  })

  it('free the slots of a worker that died at once', async () => {
    const clock = fakeClock()
    const all = await workers(2, clock)
    const [one, two] = all.links.map((link) => ipcCounters(link, clock))
    for (let i = 0; i < 3; i++) expect((await one?.acquire('slots', 3, 60_000))?.ok).toBe(true)
    expect((await two?.acquire('slots', 3, 60_000))?.ok).toBe(false)
    await all.kill(0)
    for (let i = 0; i < 3; i++) expect((await two?.acquire('slots', 3, 60_000))?.ok).toBe(true)
    await expect(one?.acquire('slots', 3, 60_000)).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' })
  })
})

describe('storage of workers', () => {
  it('keeps values, bytes, times and bases, and shows them to each worker', async () => {
    const clock = fakeClock()
    const { links } = await workers(2, clock)
    const [one, two] = links.map((link) => createStorage({ driver: ipcDriver(link) })) as [
      ReturnType<typeof createStorage>,
      ReturnType<typeof createStorage>,
    ]
    await one.setItem('a:json', { n: 1, text: 'ü\n' })
    await one.setItemRaw('a:bytes', new Uint8Array([0, 255, 13, 10]))
    expect(await two.getItem('a:json')).toEqual({ n: 1, text: 'ü\n' })
    expect([...((await two.getItemRaw('a:bytes')) as Uint8Array)]).toEqual([0, 255, 13, 10])
    expect([await two.hasItem('a:json'), await two.hasItem('a:none')]).toEqual([true, false])
    expect(await two.getItem('a:none')).toBeNull()
    await two.removeItem('a:json')
    expect(await one.getItem('a:json')).toBeNull()
    await one.setItem('ttl', 1, { ttl: 0.05 })
    await clock.advance(49)
    expect(await two.getItem('ttl')).toBe(1)
    await clock.advance(1)
    expect(await two.getItem('ttl')).toBeNull()
    for (const key of ['x*y:1', 'x*y:2', 'xzy:3']) await one.setItem(key, 1)
    expect((await two.getKeys('x*y')).sort()).toEqual(['x*y:1', 'x*y:2'])
    await ipcDriver(links[0] as never).clear?.('x*y:', {})
    expect(await two.getKeys('x*y')).toEqual([])
    expect(await two.getItem('xzy:3')).toBe(1)
  })

  it('forgets what was not used longest above its bytes', async () => {
    const { links } = await workers(1, fakeClock(), { maxBytes: 3000 })
    const driver = ipcDriver(links[0] as never)
    for (const key of ['a', 'b', 'c']) await driver.setItem?.(key, 'x'.repeat(900), {})
    await driver.getItem('a')
    await driver.setItem?.('d', 'x'.repeat(900), {})
    expect(((await driver.getKeys('', {})) as string[]).sort()).toEqual(['a', 'c', 'd'])
  })
})

describe('vectors of workers', () => {
  const subject = async () => {
    const clock = fakeClock()
    const links = await ipcLinks(2, { clock })
    const stores = links.links.map((link) => ipcVectors(memoryVectors({ clock }), link.siblings))
    const instances = stores.map((store) => ({
      ...store,
      async add(...args: Parameters<typeof store.add>) {
        await store.add(...args)
        await links.flush()
      },
    }))
    return { instances, now: clock.now, advance: (ms: number) => clock.advance(ms), close: () => links.close() }
  }
  for (const { name, run } of vectorsContract('ipc', subject)) it(name, run)
})

describe('workers among themselves', () => {
  it('hold a name one at a time; the others learn its outcome, or that the holder died', async () => {
    const all = await workers(3)
    const [one, two, three] = all.links.map(({ siblings }) => siblings)
    const first = await one?.claim('flight')
    const second = await two?.claim('flight')
    const third = await three?.claim('flight')
    expect([first?.held, second?.held, third?.held]).toEqual([true, false, false])
    if (first?.held) first.end('kept')
    expect(await Promise.all([second, third].map((claim) => (claim?.held === false ? claim.ended : null)))).toEqual([
      'kept',
      'kept',
    ])
    expect((await two?.claim('flight'))?.held).toBe(true)
    const waiting = await three?.claim('flight')
    await all.kill(1)
    expect(waiting?.held === false && (await waiting.ended)).toBe('left')
    expect((await three?.claim('flight'))?.held).toBe(true)
  })

  it('have one that leads, also after its death', async () => {
    const all = await workers(3)
    const leading = () => all.links.map(({ siblings }) => siblings.leads)
    expect(leading()).toEqual([true, false, false])
    await all.kill(0)
    await all.flush()
    expect(leading().slice(1)).toEqual([true, false])
    await all.open(1)
    await all.flush()
    expect(leading().slice(1)).toEqual([false, false, true])
  })

  it('tell and ask each other, and wait for none that does not answer', async () => {
    const clock = fakeClock()
    const all = await workers(3, clock)
    const [one, two, three] = all.links.map(({ siblings }) => siblings)
    const heard: unknown[] = []
    for (const worker of [one, two, three]) worker?.on('topic', (data) => heard.push([worker.place, data]))
    two?.tell('topic', { n: 1 })
    await all.flush()
    expect(heard.sort()).toEqual([
      [1, { n: 1 }],
      [3, { n: 1 }],
    ])
    two?.answer('running', () => 2)
    three?.answer('running', async () => 3)
    expect(((await one?.ask('running')) as number[]).sort()).toEqual([2, 3])
    one?.answer('running', () => 1)
    expect(((await one?.ask('running')) as number[])[0]).toBe(1)
    three?.answer('running', () => new Promise(() => {}))
    const late = one?.ask('running')
    await all.flush()
    await clock.advance(2000)
    expect(await late).toEqual([1, 2])
  })

  it('keep the counts of a worker that ended', async () => {
    const rests = { counts: (rest: unknown, last: unknown) => Number(rest ?? 0) + Number(last) }
    const all = await workers(3, fakeClock(), { rests })
    const [one, two, three] = all.links.map(({ siblings }) => siblings)
    one?.answer('counts', () => 1)
    two?.answer('counts', () => 20)
    three?.answer('counts', () => 300)
    expect(((await one?.ask('counts')) as number[]).sort()).toEqual([1, 20, 300])
    await all.kill(2)
    await all.kill(0)
    expect(await two?.ask('counts')).toEqual([20, 301])
  })

  it('get the events of a feed in one order, once one of them wants it', async () => {
    const clock = fakeClock()
    const all = await workers(2, clock)
    const seen: unknown[][] = [[], []]
    const feeds = all.links.map(({ siblings }, i) => siblings.feed('events', (...event) => seen[i]?.push(event)))
    const [one, two] = feeds
    one?.publish(0, 'lost')
    await all.flush()
    expect([one?.wanted, seen]).toEqual([false, [[], []]])
    const next = (await two?.want(7)) as number
    await all.flush()
    expect(feeds.map(({ wanted }) => wanted)).toEqual([true, true])
    for (let i = 0; i < 5; i++) for (const feed of feeds) feed.publish(7, i)
    await all.flush()
    expect(seen[0]).toHaveLength(10)
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]?.map((event) => (event as number[])[1])).toEqual(Array.from({ length: 10 }, (_, i) => next + i))
    const late = await all.open(3)
    expect(late.siblings.feed('events', () => {}).wanted).toBe(true)
    expect(await late.siblings.feed('events', () => {}).want(7)).toBe(next + 10)
    await clock.advance(3_700_000)
    await all.flush()
    expect(one?.wanted).toBe(false)
  })
})
