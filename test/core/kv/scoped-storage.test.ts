import { createStorage } from 'unstorage'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { memoryDriver } from '../../../core/kv/memory-driver.ts'
import { scopedStorage } from '../../../core/kv/scoped-storage.ts'

describe('a plugin’s storage', () => {
  const whole = createStorage({ driver: memoryDriver({ clock: fakeClock() }) })
  const mine = scopedStorage(whole, 'plugin:mine')
  const other = scopedStorage(whole, 'plugin:other')

  it('is its own', async () => {
    await mine.setItem('a', 1)
    await other.setItem('a', 2)
    expect(await mine.getItem('a')).toBe(1)
    expect(await mine.getKeys()).toEqual(['a'])
  })

  it('clears what is its own, all or below a base, and nothing else', async () => {
    await mine.setItem('group:b', 1)
    await mine.clear('group')
    expect(await mine.getKeys()).toEqual(['a'])
    await mine.clear()
    expect(await mine.getKeys()).toEqual([])
    expect(await other.getItem('a')).toBe(2)
  })
})
