// Token counts for real clients' bodies: by the provider, or an estimate.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../adapters/testing/index.ts'

let t: TestGateway
afterEach(() => t.close())

describe(':countTokens', () => {
  const contents = [{ role: 'user', parts: [{ text: 'How many?' }] }]
  const bodies = [
    { contents },
    { generateContentRequest: { model: 'models/any', contents, systemInstruction: { parts: [{ text: 'Be brief.' }] } } },
    { generate_content_request: { contents } },
  ]

  it.each([
    ['generate_content/m', 42, null],
    ['messages/m', 42, null],
    ['chat/m', expect.any(Number), 'estimated_tokens'],
    ['responses/m', expect.any(Number), 'estimated_tokens'],
  ])('answers with a number on every path, bare and wrapped: %s', async (model, totalTokens, warnings) => {
    t = await createTestGateway()
    for (const stem of ['/v1beta/models/', '/v1/models/', '/v1beta/']) {
      for (const body of bodies) {
        t.upstream.requests.length = 0
        const response = await t.post(`${stem}${model}:countTokens`, body)
        expect([response.status, await response.json()]).toEqual([200, { totalTokens }])
        expect(response.headers.get('x-gateway-warnings')).toBe(warnings)
        const [sent] = t.upstream.requests
        if (model !== 'generate_content/m') continue
        expect(sent?.path).toBe('/v1beta/models/m:countTokens')
        const wrapped = sent?.json.generateContentRequest ?? sent?.json.generate_content_request
        if (body === bodies[0]) expect(sent?.json).toEqual(body)
        else expect(wrapped).toMatchObject({ model: 'models/m', contents })
      }
    }
  })

  it('counts the same in a wrapper as bare, and refuses a body that has both', async () => {
    t = await createTestGateway()
    const count = async (body: object) => (await t.post('/v1beta/models/chat/m:countTokens', body)).json()
    expect(await count({ generateContentRequest: { contents } })).toEqual(await count({ contents }))
    const both = await t.post('/v1beta/models/chat/m:countTokens', { contents, generateContentRequest: { contents } })
    expect([both.status, await both.json()]).toMatchObject([400, { error: { param: 'generateContentRequest' } }])
  })
})

describe('Google’s stable path', () => {
  const body = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }

  it.each(['generate_content', 'chat', 'messages'])('answers whole and as a stream: %s', async (dialect) => {
    t = await createTestGateway()
    const whole = await t.post(`/v1/models/${dialect}/m:generateContent`, body)
    expect([whole.status, await whole.json()]).toMatchObject([200, { candidates: [{ content: { role: 'model' } }] }])
    const stream = await t.post(`/v1/models/${dialect}%2Fm:streamGenerateContent?alt=sse`, body)
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(await stream.text()).toMatch(/^data: \{"candidates"/)
  })

  it('leaves the model list as it was, and refuses other methods in Google’s shape', async () => {
    t = await createTestGateway()
    expect((await t.fetch('/v1/models/chat/m', { method: 'POST', body: '{}' })).status).toBe(405)
    const refused = await t.fetch('/v1/models/chat/m:generateContent', { method: 'PUT' })
    expect([refused.status, await refused.json()]).toMatchObject([405, { error: { code: 405 } }])
  })
})

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
