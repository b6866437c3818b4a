// Entries expire by themselves, and the map never exceeds its size.
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/index.ts'
import { ExpiringMap } from '../../../core/collections/expiring-map.ts'

function map(maxEntries = 3) {
  const clock = fakeClock()
  return { clock, entries: new ExpiringMap<number>({ clock, ttlMs: 1000, maxEntries }) }
}

describe('an expiring map', () => {
  it('keeps an entry for its time, used or not', async () => {
    const { clock, entries } = map()
    entries.set('a', 1)
    await clock.advance(999)
    expect(entries.get('a')).toBe(1)
    await clock.advance(1)
    expect(entries.get('a')).toBeUndefined()
  })

  it('counts anew from the moment an entry is set again', async () => {
    const { clock, entries } = map()
    entries.set('a', 1)
    await clock.advance(900)
    entries.set('a', 2)
    await clock.advance(900)
    expect(entries.get('a')).toBe(2)
  })

  it('gives up the least recently used of too many', () => {
    const { entries } = map()
    for (const [at, key] of ['a', 'b', 'c'].entries()) entries.set(key, at)
    entries.get('a')
    entries.set('d', 3)
    expect(['a', 'b', 'c', 'd'].map((key) => entries.get(key))).toEqual([0, undefined, 2, 3])
    expect(entries.size).toBe(3)
  })

  it('gives the room of what ran out back when it is swept', async () => {
    const { clock, entries } = map()
    entries.set('a', 1)
    await clock.advance(500)
    entries.set('b', 2)
    await clock.advance(600)
    entries.sweep()
    expect([entries.size, entries.get('b')]).toEqual([1, 2])
    entries.clear()
    expect(entries.size).toBe(0)
  })
})
