import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { TurnQueue } from '../../../core/timing/turn-queue.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
afterEach(() => vi.restoreAllMocks())

it('runs the items of a turn at its end, in order', async () => {
  const ran: number[] = []
  const queue = new TurnQueue<number>((item) => ran.push(item))
  queue.add(1)
  await Promise.resolve()
  queue.add(2)
  expect(ran).toEqual([])
  await turn()
  expect(ran).toEqual([1, 2])
  queue.add(3)
  await turn()
  expect(ran).toEqual([1, 2, 3])
})

it('runs all items before the promises of the first take their next step', async () => {
  const ran: string[] = []
  const queue = new TurnQueue<string>(async (item) => {
    ran.push(`${item} starts`)
    await null
    ran.push(`${item} goes on`)
  })
  queue.add('a')
  queue.add('b')
  await turn()
  expect(ran).toEqual(['a starts', 'b starts', 'a goes on', 'b goes on'])
})

it('leaves what an item adds to the next turn', async () => {
  const ran: number[] = []
  const queue = new TurnQueue<number>((item) => {
    ran.push(item)
    if (item < 3) queue.add(item + 1)
  })
  queue.add(1)
  await turn()
  expect(ran).toEqual([1])
  await turn()
  await turn()
  expect(ran).toEqual([1, 2, 3])
})

it('runs the other items after one that throws', () => {
  const due: (() => void)[] = []
  vi.spyOn(globalThis, 'setImmediate').mockImplementation(((fn: (arg: unknown) => void, arg: unknown) =>
    due.push(() => fn(arg))) as never)
  const ran: number[] = []
  const queue = new TurnQueue<number>((item) => {
    if (item === 1) throw new Error('broken')
    ran.push(item)
  })
  for (const item of [0, 1, 2, 3]) queue.add(item)
  expect(due.shift()).toThrow('broken')
  expect(ran).toEqual([0])
  for (const next of due.splice(0)) next()
  expect(ran).toEqual([0, 2, 3])
})

describe('groups', () => {
  /** Runs `count` items of `cost` ms in one turn; returns the sizes of the groups, whose items take a step between them. */
  async function groupsOf(queue: TurnQueue<() => void>, clock: { ms: number }, count: number, cost: number): Promise<number[]> {
    const sizes: number[] = []
    let size = 0
    for (let i = 0; i < count; i++)
      queue.add(() => {
        if (size++ === 0)
          queueMicrotask(() => {
            sizes.push(size)
            size = 0
          })
        clock.ms += cost
      })
    await turn()
    return sizes
  }

  const queueOf = (clock: { ms: number }) =>
    new TurnQueue<() => void>(
      (item) => item(),
      () => clock.ms,
    )

  it('are small for costly items, so that what an item finds is as old as five milliseconds', async () => {
    const clock = { ms: 0 }
    const queue = queueOf(clock)
    await groupsOf(queue, clock, 30, 1)
    expect(await groupsOf(queue, clock, 20, 1)).toEqual([5, 5, 5, 5])
    await groupsOf(queue, clock, 20, 50)
    expect(await groupsOf(queue, clock, 3, 50)).toEqual([1, 1, 1])
  })

  it('grow when items cost little, and all of a turn run in that turn', async () => {
    const clock = { ms: 0 }
    const queue = queueOf(clock)
    expect(await groupsOf(queue, clock, 20, 0.01)).toEqual([8, 8, 4])
    await groupsOf(queue, clock, 40, 0.01)
    await groupsOf(queue, clock, 80, 0.01)
    expect(await groupsOf(queue, clock, 200, 0.01)).toEqual([200])
  })

  it('run all items in order, whatever they cost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 300 }), async (costs) => {
        const clock = { ms: 0 }
        const queue = queueOf(clock)
        const ran: number[] = []
        for (const [at, cost] of costs.entries())
          queue.add(() => {
            ran.push(at)
            clock.ms += cost
          })
        await turn()
        expect(ran).toEqual(costs.map((_cost, at) => at))
      }),
      { numRuns: 50, seed: 46 },
    )
  })
})
