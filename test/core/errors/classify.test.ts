import { describe, expect, it } from 'vitest'
import { asCallerError, finalError, walkAction } from '../../../core/errors/classify.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'

const up = (status: number, message = 'no', code: string | null = null, retryAfterMs: number | null = null) =>
  GatewayError.upstream(status, message, { code, retryAfterMs })

describe('the walk over candidates', () => {
  it.each([
    ['connection refused', GatewayError.network('connect', 'x'), 'next_account'],
    ['DNS', GatewayError.network('dns', 'x'), 'next_account'],
    ['a reused socket that was reset', GatewayError.network('reset', 'x', { stale: true }), 'retry_fresh_socket'],
    ['a timeout', GatewayError.timeout('x'), 'next_account'],
    ['an answer nobody understands', GatewayError.protocol('x'), 'next_account'],
    ['401', up(401), 'next_account'],
    ['402', up(402), 'next_account'],
    ['403', up(403), 'next_account'],
    ['404', up(404), 'next_account'],
    ['408', up(408), 'next_account'],
    ['409', up(409), 'next_account'],
    ['429', up(429), 'next_account'],
    ['500', up(500), 'next_account'],
    ['529', up(529), 'next_account'],
    ['400', up(400), 'return'],
    ['400 that means money', up(400, 'Your credit balance is too low', 'billing_error'), 'next_account'],
    ['413', up(413), 'return'],
    ['422', up(422), 'return'],
    ['a redirect', up(302), 'return'],
    ['our own decision', GatewayError.forbidden('x'), 'return'],
    ['a target that cannot', GatewayError.unsupported('n', 'x'), 'skip'],
  ])('%s: %s', (_what, error, action) => {
    expect(walkAction(error)).toBe(action)
  })
})

describe('what the caller sees', () => {
  it('an upstream’s 401, 402 and 403 are 502: the caller’s own key is fine', () => {
    for (const status of [401, 402, 403])
      expect(asCallerError(up(status), 'chat')).toMatchObject({ status: 502, type: 'api_error', code: 'upstream_error' })
  })

  it('529 stays 529 for messages callers and is 503 for the others', () => {
    expect(asCallerError(up(529), 'messages')).toMatchObject({ status: 529, type: 'overloaded_error' })
    for (const caller of ['chat', 'responses', 'generate_content'] as const)
      expect(asCallerError(up(529), caller).status).toBe(503)
  })

  it('request errors keep their status and the vendor’s words', () => {
    expect(asCallerError(up(422, 'bad schema'), 'chat')).toMatchObject({ status: 422, message: 'bad schema' })
  })

  it('500, 502, 503, 504 pass, stranger ones become 502', () => {
    expect([500, 502, 503, 504, 520, 507].map((status) => asCallerError(up(status), 'chat').status)).toEqual([
      500, 502, 503, 504, 502, 502,
    ])
  })

  it('all accounts rate limited: 429 with the earliest Retry-After', () => {
    expect(finalError([up(429, 'a', null, 30_000), up(429, 'b', null, 5000)], 'chat')).toMatchObject({
      status: 429,
      code: 'rate_limited',
      retryAfterMs: 5000,
    })
  })

  it('a skipped target does not hide what a tried one said', () => {
    expect(finalError([up(500, 'boom'), GatewayError.unsupported('n', 'x')], 'chat')).toMatchObject({ status: 500 })
    expect(finalError([GatewayError.unsupported('n', 'x')], 'chat')).toMatchObject({
      status: 400,
      param: 'n',
      code: 'unsupported_for_target',
    })
  })
})
