import { afterEach, expect, it, vi } from 'vitest'
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
  const ends: (() => void)[] = []
  vi.spyOn(globalThis, 'setImmediate').mockImplementation(((end: () => void) => ends.push(end)) as never)
  const ran: number[] = []
  const queue = new TurnQueue<number>((item) => {
    if (item === 1) throw new Error('broken')
    ran.push(item)
  })
  for (const item of [0, 1, 2, 3]) queue.add(item)
  expect(ends).toHaveLength(1)
  expect(ends.shift()).toThrow('broken')
  expect(ran).toEqual([0])
  expect(ends).toHaveLength(1)
  ends[0]?.()
  expect(ran).toEqual([0, 2, 3])
})
