import { describe, expect, it } from 'vitest'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/lib/headers.ts'
import { driver } from './support.ts'

const decode = (status: number, body: unknown) =>
  driver.decodeError(status, headerBag(), new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))

describe('generate-content errors', () => {
  it('DECISIONS 11: the envelope carries Google’s status word beside param and code', () => {
    expect(JSON.parse(driver.encodeError(GatewayError.rateLimited('slow'), 'req_1'))).toEqual({
      error: { message: 'slow', type: 'rate_limit_error', param: null, code: 'rate_limited', status: 'RESOURCE_EXHAUSTED' },
    })
    expect(JSON.parse(driver.encodeError(GatewayError.invalid('contents', 'bad'), ''))).toMatchObject({
      error: { status: 'INVALID_ARGUMENT', param: 'contents', code: null },
    })
  })

  it('golden 68: an error in an array is unwrapped', () => {
    expect(decode(429, [generateContentReplies.error(429, 'quota\nsecond line')])).toMatchObject({
      status: 429,
      message: 'quota',
      type: 'rate_limit_error',
      upstream: { status: 429, vendorCode: 'RESOURCE_EXHAUSTED', kind: 'status', field: null },
    })
  })

  it('golden 78: names the unsupported field as a path into the body', () => {
    const field = (message: string, details?: object[]) =>
      decode(400, { error: { code: 400, message, status: 'INVALID_ARGUMENT', details } }).upstream?.field
    expect(
      field(
        'Invalid JSON payload received. Unknown name "foo": Cannot find field.\nInvalid JSON payload received. Unknown name "bar": …',
      ),
    ).toBe('foo')
    expect(field(`Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[1]': Cannot find field.`)).toBe(
      'tools.0.functionDeclarations.1.parametersJsonSchema',
    )
    expect(field(`Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field.`)).toBe(
      'generationConfig.thinkingConfig.thinkingLevel',
    )
    expect(field('bad', [{ fieldViolations: [{ description: `Unknown name "x" at 'contents[0]': Cannot find field.` }] }])).toBe(
      'contents.0.x',
    )
    expect(field('Thinking level is not supported for this model.')).toBe('generationConfig.thinkingConfig.thinkingLevel')
    expect(field('The input token count exceeds the maximum')).toBeNull()
  })

  it('takes a 400 for a wrong key as the credential failure it is', () => {
    const error = decode(
      400,
      generateContentReplies.error(400, 'API key not valid. Please pass a valid API key.', { code: 'API_KEY_INVALID' }),
    )
    expect(error).toMatchObject({ status: 401, type: 'authentication_error', upstream: { vendorCode: 'API_KEY_INVALID' } })
  })

  it('survives HTML, plain text, nothing and odd JSON', () => {
    expect(decode(502, '<html><head><title>502 Bad Gateway</title></head></html>')).toMatchObject({
      status: 502,
      message: '502 Bad Gateway',
    })
    expect(decode(500, 'broken\nstack')).toMatchObject({ status: 500, message: 'broken' })
    expect(decode(503, '')).toMatchObject({ status: 503, message: 'The upstream answered with status 503.' })
    for (const odd of ['null', '[]', '{"error":"text"}', '{"error":{"message":5}}', '3'])
      expect(decode(500, odd)).toMatchObject({ status: 500 })
    expect(decode(500, { error: { message: 'x'.repeat(5000) } }).message).toHaveLength(1000)
  })
})
