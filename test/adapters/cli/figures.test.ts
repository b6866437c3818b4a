import { describe, expect, it } from 'vitest'
import { bar, count, localTime, milliseconds, sparkline, usd } from '../../../adapters/cli/output/figures.ts'
import { table } from '../../../adapters/cli/output/table.ts'

describe('figures for people', () => {
  it.each([
    [null, '-'],
    [0, '$0'],
    [1234.5, '$1234.50'],
    [25.5, '$25.5000'],
    [0.0123, '$0.0123'],
    [0.000016, '$0.000016'],
    [0.000000001, '<$0.000001'],
    [-3, '-$3.0000'],
    [-0.000000001, '-<$0.000001'],
  ])('%d USD is %s: less than what is shown is not nothing', (value, shown) => {
    expect(usd(value)).toBe(shown)
  })

  it.each([
    [0, '0'],
    [9999, '9999'],
    [10_000, '10.0k'],
    [12_345_678, '12.3M'],
    [98_765_432_109, '98.8G'],
  ])('%d is %s', (value, shown) => {
    expect(count(value)).toBe(shown)
  })

  it('times are milliseconds up to ten seconds, and in the zone of who reads them', () => {
    expect([null, 0, 9999, 12_345].map(milliseconds)).toEqual(['-', '0 ms', '9999 ms', '12.3 s'])
    const at = new Date(2026, 10, 21, 7, 5, 9)
    expect(localTime(at.toISOString())).toBe('2026-11-21 07:05:09')
  })

  it('a bar is as long as its share, in eighths; what is more than nothing shows, and more than all is all', () => {
    expect([0, 0.0001, 0.5, 0.53, 1, 7].map((share) => bar(share, 4))).toEqual(['', '▏', '██', '██▏', '████', '████'])
  })

  it('a line over time has a dot where nothing was', () => {
    expect(sparkline([0, 1, 4, 8])).toBe('·▁▄█')
    expect(sparkline([0, 0])).toBe('··')
  })

  it('a table has figures at the right, and nothing behind the last cell', () => {
    const text = table(
      ['NAME', 'COST', ''],
      [
        ['a', '$1', '█'],
        ['longer', '$10.00', ''],
      ],
      {},
      ['COST'],
    )
    expect(text.split('\n')).toEqual(['NAME      COST', '────      ────', 'a           $1  █', 'longer  $10.00'])
  })
})
