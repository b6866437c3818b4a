import { describe, expect, it } from 'vitest'
import { inBandError } from '../../../../adapters/dialects/chat/errors.ts'
import { chatReplies } from '../../../../adapters/testing/replies/chat.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import { driver } from './support.ts'

const decode = (status: number, body: unknown) =>
  driver.decodeError(status, headerBag(), new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))

describe('errors of chat upstreams', () => {
  it('the caller reads the envelope with param and code always present', () => {
    expect(JSON.parse(driver.encodeError(GatewayError.invalid('temperature', 'no'), 'req_1'))).toEqual({
      error: { message: 'no', type: 'invalid_request_error', param: 'temperature', code: null },
    })
  })

  it("reads OpenAI's body", () => {
    const error = decode(429, chatReplies.error(429, 'Rate limit reached'))
    expect(error).toMatchObject({
      status: 429,
      message: 'Rate limit reached',
      code: 'rate_limit_exceeded',
      retryAfterMs: null,
      upstream: { status: 429, vendorCode: 'rate_limit_exceeded', field: null },
    })
  })

  it.each([
    ['an array around it', [{ error: { code: 503, message: 'busy', status: 'UNAVAILABLE' } }], 'busy'],
    ['a bare text', { error: 'model not loaded' }, 'model not loaded'],
    ['mistral', { object: 'error', message: 'bad thing', type: 'invalid_request_error', param: null, code: '1500' }, 'bad thing'],
    ['FastAPI text', { detail: 'Not Found' }, 'Not Found'],
    [
      'FastAPI list',
      { detail: [{ loc: ['body', 'foo'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] },
      'foo: Extra inputs are not permitted',
    ],
    ['cloudflare', { errors: [{ message: 'no route', code: 7000 }], success: false }, 'no route'],
    ['zai', { error: { code: '1113', message: 'Insufficient balance' } }, 'Insufficient balance'],
    ['minimax', { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }, 'insufficient balance'],
    ['plain text', 'upstream connect error\nstack trace', 'upstream connect error'],
    ['a page', '<!DOCTYPE html><html>Bad gateway</html>', 'The upstream answered with status 502 and no readable message.'],
    ['nothing', '', 'The upstream answered with status 502 and no readable message.'],
  ])('understands %s', (_name, body, message) => {
    expect(decode(502, body)).toMatchObject({ status: 502, message })
  })

  it('says one line of at most 1,000 characters', () => {
    expect(decode(500, { error: { message: `${'x'.repeat(5000)}\nsecret` } }).message.length).toBeLessThanOrEqual(1000)
  })

  it.each([
    [
      {
        message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
        param: 'max_tokens',
        code: 'unsupported_parameter',
      },
      'max_tokens',
    ],
    [{ message: "Unsupported value: 'temperature' does not support 0.8 with this model." }, 'temperature'],
    [{ message: 'Unrecognized request argument supplied: foo' }, 'foo'],
    [
      { message: "Unknown parameter: 'tools[0].function.x'.", param: 'tools[0].function.x', code: 'unknown_parameter' },
      'tools.0.function.x',
    ],
    [{ message: 'temperature: Extra inputs are not permitted' }, 'temperature'],
    [{ message: '`temperature` is deprecated for this model.' }, 'temperature'],
    [{ message: '"thinking.type.enabled" is not supported for this model' }, 'thinking.type.enabled'],
    [
      {
        message:
          "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use /v1/responses or set reasoning_effort to 'none'.",
      },
      'reasoning_effort',
    ],
    [
      { message: 'Invalid JSON payload received. Unknown name "foo" at \'tools[0].function\': Cannot find field.' },
      'tools.0.function.foo',
    ],
    [
      {
        message:
          "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      },
      'messages.2.reasoning_content',
    ],
    [{ message: 'This model maximum context length is 128000 tokens', param: 'messages', code: 'context_length_exceeded' }, null],
    [{ message: "Invalid type for 'temperature': expected a number", param: 'temperature', code: 'invalid_type' }, null],
    [{ message: "Unsupported parameter: 'messages' is not supported", param: 'messages' }, null],
  ])('names the unsupported field of %j', (error, field) => {
    expect(decode(400, { error: { type: 'invalid_request_error', ...error } }).upstream?.field).toBe(field)
    expect(decode(500, { error }).upstream?.field).toBe(null)
  })

  it('a validation list names its field', () => {
    expect(
      decode(422, { detail: [{ loc: ['body', 'foo'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }] }),
    ).toMatchObject({ param: 'foo', upstream: { field: 'foo' } })
  })

  it.each([
    400, 403, 404, 413, 422, 500, 503,
  ])('an error frame of status %i without a type is an api_error: the stream began with 200', (code) => {
    const frames: JsonObject[] = [
      { error: { message: 'no', code } },
      { error: { message: 'no', code: String(code) } },
      { error: { message: 'no', type: null, status: code } },
    ]
    for (const frame of frames) expect(inBandError(frame, 'stream')).toMatchObject({ status: code, type: 'api_error' })
    expect(inBandError({ error: { message: 'no', code, type: 'invalid_request_error' } }, 'stream')?.type).toBe(
      'invalid_request_error',
    )
    expect(decode(400, { error: { message: 'no' } }).type).toBe('invalid_request_error')
  })

  it('an error frame that says it is a rate limit stays one', () => {
    expect(inBandError({ error: { message: 'slow down', code: 429 } }, 'stream')?.type).toBe('rate_limit_error')
  })
})
