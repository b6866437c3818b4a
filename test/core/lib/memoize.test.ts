import { expect, it } from 'vitest'
import { memoize } from '../../../core/collections/memoize.ts'

it('is asked once for each text, and for all anew when there were too many', () => {
  const asked: string[] = []
  const length = memoize((text) => {
    asked.push(text)
    return text.length
  }, 2)
  expect(['a', 'bb', 'a', 'bb'].map(length)).toEqual([1, 2, 1, 2])
  expect(asked).toEqual(['a', 'bb'])
  expect(['ccc', 'a', 'ccc'].map(length)).toEqual([3, 1, 3])
  expect(asked).toEqual(['a', 'bb', 'ccc', 'a'])
})
