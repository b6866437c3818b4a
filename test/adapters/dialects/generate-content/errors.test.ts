import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorItem, errorOf } from '../../../../adapters/dialects/generate-content/errors.ts'
import { generateContentReplies } from '../../../../adapters/testing/replies/generate-content.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import { driver } from './support.ts'

const decode = (status: number, body: unknown) =>
  driver.decodeError(status, headerBag(), new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))

describe('generate-content errors', () => {
  it('says the HTTP status as `code`, the word and the delay in `details`, as Google does', () => {
    expect(JSON.parse(driver.encodeError(GatewayError.rateLimited('slow', 11_200), 'req_1'))).toEqual({
      error: {
        message: 'slow',
        type: 'rate_limit_error',
        param: null,
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'rate_limited', domain: 'hookgate' },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '12s' },
        ],
      },
    })
    expect(JSON.parse(driver.encodeError(GatewayError.modelNotFound('x/y'), '')).error).toMatchObject({
      code: 400,
      details: [{ reason: 'model_not_found', domain: 'hookgate', metadata: { param: 'model' } }],
    })
    const bare = JSON.parse(driver.encodeError(GatewayError.invalid('contents', 'bad'), '')).error
    expect(bare).toEqual({
      message: 'bad',
      type: 'invalid_request_error',
      param: 'contents',
      code: 400,
      status: 'INVALID_ARGUMENT',
    })
  })

  it('reads its own errors back, whole and inside a stream', () => {
    const words = fc.option(fc.constantFrom('model_not_found', 'rate_limited', 'plugin_failed'), { nil: null })
    const param = fc.option(fc.constantFrom('model', 'contents.0'), { nil: null })
    fc.assert(
      fc.property(
        fc.constantFrom(400, 404, 413, 429, 500, 502, 503, 504),
        words,
        param,
        fc.option(fc.integer({ min: 1, max: 3_000_000 }), { nil: null }),
        (status, code, field, retryAfterMs) => {
          const sent = new GatewayError('no', { status, type: 'some_error', code, param: field, retryAfterMs })
          const text = driver.encodeError(sent, 'req_1')
          const whole = decode(status, text)
          expect(whole).toMatchObject({ status, message: 'no' })
          if (code !== null) expect(whole).toMatchObject({ type: 'some_error', code, param: field })
          const inside = errorOf(JSON.parse(errorItem(sent)), 0, 'stream')
          expect(inside).toMatchObject({ status, upstream: { status, kind: 'stream' } })
          if (code !== null) expect(inside).toMatchObject({ code, param: field })
          expect(inside.retryAfterMs).toBe(retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000) * 1000)
        },
      ),
    )
  })

  it('does not take the reason of another domain for a code of a gateway', () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'SERVICE_DISABLED', domain: 'googleapis.com' },
    ]
    expect(
      decode(403, { error: { code: 403, message: 'off', status: 'PERMISSION_DENIED', type: 'odd', details } }),
    ).toMatchObject({
      type: 'permission_error',
      param: null,
      upstream: { vendorCode: 'PERMISSION_DENIED' },
    })
    expect(decode(400, { error: { code: 429, message: 'x', details: [{ retryDelay: '1e9s' }] } }).retryAfterMs).toBeNull()
  })

  it('an error in an array is unwrapped', () => {
    expect(decode(429, [generateContentReplies.error(429, 'quota\nsecond line')])).toMatchObject({
      status: 429,
      message: 'quota',
      type: 'rate_limit_error',
      upstream: { status: 429, vendorCode: 'RESOURCE_EXHAUSTED', kind: 'status', field: null },
    })
  })

  it('names the unsupported field as a path into the body', () => {
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
