// `upstream_headers.pass`: callers get the rate-limit headers and the request id of the upstream that answered, when asked for.
import { afterEach, expect, it } from 'vitest'
import { createTestGateway, fail, type TestGateway, text } from '../../adapters/testing/index.ts'
import { ask, DIALECTS } from '../adapters/node/support.ts'

const SENT = {
  'x-ratelimit-remaining-requests': '41',
  'anthropic-ratelimit-tokens-reset': '2026-11-23T09:00:00Z',
  'x-request-id': 'vendor-1',
  'set-cookie': 'a=b',
  'x-ratelimit-evil': 'caf\u00e9',
  server: 'vendor',
}
const KINDS = {
  '': [false, false],
  ratelimit: [true, false],
  request_id: [false, true],
  'ratelimit,request_id': [true, true],
} as const

let t: TestGateway
afterEach(() => t.close())

const start = async (kinds: string, more: object = {}) => {
  t = await createTestGateway({ env: kinds === '' ? {} : { PASS_UPSTREAM_HEADERS: kinds }, ...more })
}

it.each(Object.entries(KINDS))('set to "%s": passes exactly these, whole and streamed, in every dialect', async (kinds, [
  limits,
  id,
]) => {
  await start(kinds)
  for (const dialect of DIALECTS)
    for (const stream of [false, true]) {
      t.upstream.script(text('fine', { headers: SENT }))
      const { path, body } = ask(dialect, 'chat/m', { stream })
      const { headers, status } = await t.post(path, body)
      expect(status).toBe(200)
      expect(headers.get('x-ratelimit-remaining-requests')).toBe(limits ? '41' : null)
      expect(headers.get('anthropic-ratelimit-tokens-reset')).toBe(limits ? SENT['anthropic-ratelimit-tokens-reset'] : null)
      expect(headers.get('x-ratelimit-evil')).toBe(limits ? 'caf' : null)
      expect(headers.get('x-upstream-request-id')).toBe(id ? 'vendor-1' : null)
      expect(headers.get('x-gateway-request-id')).not.toBe('vendor-1')
      expect([headers.get('set-cookie'), headers.get('server')]).toEqual([null, null])
    }
})

it('passes them with an error that reaches the caller', async () => {
  await start('ratelimit,request_id')
  const { path, body } = ask('chat', 'chat/m')
  t.upstream.script(fail(400, { headers: { ...SENT, 'x-request-id': 'refused' } }))
  const refused = await t.post(path, body)
  expect([refused.status, refused.headers.get('x-upstream-request-id')]).toEqual([400, 'refused'])
})

it('takes the setting of the file', async () => {
  await start('', { config: { settings: { 'upstream_headers.pass': ['request_id'] } } })
  t.upstream.script(text('fine', { headers: SENT }))
  const { path, body } = ask('chat', 'chat/m')
  expect((await t.post(path, body)).headers.get('x-upstream-request-id')).toBe('vendor-1')
})
