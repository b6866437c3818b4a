import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bypass } from '../../../plugins/proxy-pools/pool.ts'

describe('no_proxy', () => {
  it.each([
    ['example.com', 'https://example.com/v1', true],
    ['example.com', 'https://api.example.com:8443/v1', true],
    ['.example.com', 'https://api.example.com/', true],
    ['*.example.com', 'https://EXAMPLE.com./', true],
    ['example.com', 'https://notexample.com/', false],
    ['example.com', 'https://example.com.evil.test/', false],
    ['other.test, 127.0.0.1', 'http://127.0.0.1:11434/v1', true],
    ['::1', 'http://[::1]:80/', true],
    ['*', 'https://anything.test/', true],
    ['', 'https://example.com/', false],
    [' , ', 'https://example.com/', false],
  ])('%j for %s: %s', (list, url, expected) => {
    expect(bypass(list)(url)).toBe(expected)
  })

  it('holds for a host and all below it, and for no other, whatever their names', () => {
    const label = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/)
    fc.assert(
      fc.property(fc.array(label, { minLength: 2, maxLength: 4 }), label, (labels, more) => {
        const host = labels.join('.')
        expect(bypass(host)(`https://${host}/`)).toBe(true)
        expect(bypass(host)(`https://${more}.${host}/`)).toBe(true)
        expect(bypass(host)(`https://${more}${host}/`)).toBe(false)
        expect(bypass(`${more}.${host}`)(`https://${host}/`)).toBe(false)
      }),
      { seed: 11, numRuns: 200 },
    )
  })
})
