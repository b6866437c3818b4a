import { describe, expect, it } from 'vitest'
import { noUsage } from '../../../../core/models/token-estimate.ts'
import type { CanonicalResponse } from '../../../../core/types/request/answer.ts'
import { codec, decode, encoded, freeze } from './support.ts'

function response(overrides: Partial<CanonicalResponse> = {}): CanonicalResponse {
  const choices: CanonicalResponse['choices'] = [{ index: 0, parts: [], finish: 'stop', nativeFinish: 'stop' }]
  const usage = { ...noUsage(), estimated: false }
  return { id: 'chatcmpl-1', created: 1_700_000_000, model: 'claude-x', choices, usage, ext: {}, ...overrides }
}

describe('the echo of a responses answer', () => {
  it.each([
    ['standard', 'default'],
    ['default', 'default'],
    ['flex', 'flex'],
    ['priority', 'priority'],
    ['scale', 'scale'],
    ['batch', 'default'],
    ['on_demand', 'default'],
  ])('says a service tier of the published schema for %s', (serviceTier, shown) => {
    expect(encoded(response({ serviceTier }), codec()).service_tier).toBe(shown)
  })

  it('has a description of the format only where the caller wrote one', () => {
    const format = (own: object) => {
      const wire = {
        model: 'm',
        input: 'x',
        text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, ...own } },
      }
      return encoded(response(), codec({ request: freeze(decode(wire)) })).text.format
    }
    for (const own of [{}, { description: null }]) expect(format(own)).not.toHaveProperty('description')
    expect(format({ description: 'd' })).toEqual({
      type: 'json_schema',
      name: 'n',
      schema: { type: 'object' },
      description: 'd',
      strict: false,
    })
  })
})
