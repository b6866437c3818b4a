import Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { messagesDialect } from '../../../../adapters/dialects/messages/index.ts'
import { messagesReplies } from '../../../../adapters/testing/replies/messages.ts'
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { headerBag } from '../../../../core/http/headers.ts'

const decode = (status: number, body: unknown) =>
  messagesDialect.decodeError(
    status,
    headerBag(),
    new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  )
const fieldOf = (message: string) => decode(400, messagesReplies.error(400, message)).upstream?.field

it('the envelope of the specification plus what Anthropic’s SDK reads', async () => {
  const text = messagesDialect.encodeError(GatewayError.invalid('model', 'No.', 'model_not_found'), 'req_9')
  expect(JSON.parse(text)).toEqual({
    type: 'error',
    error: { message: 'No.', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
    request_id: 'req_9',
  })
  const fetch = async () => new Response(text, { status: 400, headers: { 'content-type': 'application/json' } })
  const client = new Anthropic({ apiKey: 'x', fetch, maxRetries: 0 })
  const failed = client.messages.create({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'x' }] })
  await expect(failed).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' })
})

it('a vendor’s error keeps status, type and message', () => {
  expect(decode(529, messagesReplies.error(529, 'Overloaded'))).toMatchObject({
    status: 529,
    type: 'overloaded_error',
    message: 'Overloaded',
    retryAfterMs: null,
    upstream: { kind: 'status', status: 529, vendorCode: 'overloaded_error' },
  })
  expect(decode(429, messagesReplies.error(429, 'Slow', { code: 'enforced_spend_limit_reached' })).upstream?.vendorCode).toBe(
    'enforced_spend_limit_reached',
  )
})

it('pages, arrays, plain text and foreign shapes are understood', () => {
  expect(decode(502, '<html><body>Bad Gateway</body></html>').message).toBe(
    'The upstream answered with status 502 and no readable message.',
  )
  expect(decode(400, [{ error: { message: 'In a list', code: 400 } }])).toMatchObject({ message: 'In a list' })
  expect(decode(404, { error: 'model not found' }).message).toBe('model not found')
  expect(decode(400, { error: { message: 'M', code: '1113' } }).upstream?.vendorCode).toBe('1113')
  expect(decode(500, 'first line\nsecond').message).toBe('first line')
  expect(decode(500, { message: 'x'.repeat(5000) }).message).toHaveLength(1000)
})

it.each([
  ['temperature: Extra inputs are not permitted', 'temperature'],
  ['tools.0.custom.strict: Extra inputs are not permitted', 'tools.0.strict'],
  ['messages.1.content.0.text.citations: Extra inputs are not permitted', 'messages.1.content.0.citations'],
  ['thinking.adaptive.display: Extra inputs are not permitted', 'thinking.display'],
  ['cache_control.ephemeral.ttl: Extra inputs are not permitted', 'cache_control.ttl'],
  ['output_config.effort: Extra inputs are not permitted', 'output_config.effort'],
  ['`temperature` is deprecated for this model.', 'temperature'],
  ['"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"', 'thinking'],
  ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', 'top_p'],
  ['This model does not support the effort parameter.', 'output_config.effort'],
  ["Unsupported parameter: 'top_k' is not supported with this model", 'top_k'],
  ['max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens', null],
  ['messages: text content blocks must be non-empty', null],
])('1.4: "%s" names %s', (message, field) => {
  expect(fieldOf(message)).toBe(field)
})

it('only a 400 or 422 names a field', () => {
  expect(decode(500, messagesReplies.error(500, 'temperature: Extra inputs are not permitted')).upstream?.field).toBeNull()
})
