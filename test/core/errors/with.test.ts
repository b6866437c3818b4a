import fc from 'fast-check'
import { expect, it } from 'vitest'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

const word = fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom(...'abcXYZ019-_') })
const error = fc
  .record({
    status: fc.integer({ min: 400, max: 599 }),
    type: word,
    code: fc.option(word),
    param: fc.option(word),
    retryAfterMs: fc.option(fc.nat()),
    headers: fc.constantFrom([], ['allow', 'GET']),
    upstream: fc.constantFrom(undefined, { kind: 'status' as const, status: 429, vendorCode: 'x', walk: 'return' as const }),
    cause: fc.constantFrom(undefined, new Error('inner')),
  })
  .map((init) => new GatewayError('line one\nline two', init))

const members = ({ message, status, type, code, param, retryAfterMs, skip, upstream, headers, cause }: GatewayError) => ({
  message,
  status,
  type,
  code,
  param,
  retryAfterMs,
  skip,
  upstream,
  headers,
  cause,
})

it('error.with() changes what the patch names and keeps every other member', () => {
  fc.assert(
    fc.property(error, word, fc.nat(), (original, message, retryAfterMs) => {
      expect(members(original.with({}))).toEqual(members(original))
      expect(members(original.with({ message }))).toEqual({ ...members(original), message })
      expect(members(original.with({ retryAfterMs }))).toEqual({ ...members(original), retryAfterMs })
      expect(members(original.with({ upstream: undefined }))).toEqual({ ...members(original), upstream: null })
    }),
  )
})
