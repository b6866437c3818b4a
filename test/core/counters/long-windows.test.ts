// Windows of any length and number that callers choose do not fill the memory.
import { expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/index.ts'
import { memoryCounters } from '../../../core/counters/memory.ts'

const DAY = 86_400_000
const MOST = 100_000

it('of more than 100,000 that are longer than a minute the least recently used begin anew', async () => {
  const counters = memoryCounters(fakeClock())
  const total = async (key: string, amount = 0, ms = DAY) => (await counters.debit(key, amount, ms)).total
  await total('minute', 1, 60_000)
  for (const key of ['first', 'second']) await total(key, 1)
  for (let i = 0; i < MOST - 2; i++) await total(`other ${i}`, 1)
  expect(await total('first')).toBe(1)
  await total('one more', 1)
  expect(await total('first')).toBe(1)
  expect(await total('second')).toBe(0)
  expect(await total('minute', 0, 60_000)).toBe(1)
})
