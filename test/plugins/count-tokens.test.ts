// Token counts for bodies as clients have them (SPEC "Endpoints"; DIALECTS 5.6): by the provider, or an estimate.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'

let t: TestGateway
afterEach(() => t.close())

describe('/v1/messages/count_tokens', () => {
  it.each([
    ['messages/m', null],
    ['chat/m', 'estimated_tokens'],
    ['echo/echo-1', null],
  ])('answers with a number also where the body asks for a stream: %s', async (model, warnings) => {
    t = await createTestGateway(model === 'echo/echo-1' ? { config: { connections: { echo: { provider: 'echo' } } } } : {})
    for (const stream of [false, true, 'yes', null]) {
      const messages = [{ role: 'user', content: 'How many?' }]
      const response = await t.post('/v1/messages/count_tokens', { model, max_tokens: 9, messages, stream })
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect([response.status, await response.json()]).toEqual([200, { input_tokens: expect.any(Number) }])
      expect(response.headers.get('x-gateway-warnings')).toBe(warnings)
    }
  })
})
