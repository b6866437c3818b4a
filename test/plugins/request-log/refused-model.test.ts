// A refused request is logged under the model that its caller named, for every reason and in every dialect.
import { describe, expect, it } from 'vitest'
import { text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { Dialect } from '../../../core/types/request/canonical.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { logs } from './support.ts'

const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']
const SECRET = 'AKIAIOSFODNN7EXAMPLE'

interface Asked {
  model?: string
  content?: string
  more?: object
  headers?: Record<string, string>
}

function ask(t: TestGateway, dialect: Dialect, { model = `${dialect}/m`, content = 'hi', more = {}, headers = {} }: Asked) {
  if (dialect === 'generate_content')
    return t.post(`/v1beta/models/${model}:generateContent`, { contents: [{ parts: [{ text: content }] }], ...more }, headers)
  if (dialect === 'responses') return t.post('/v1/responses', { model, input: content, ...more }, headers)
  const messages = [{ role: 'user', content }]
  if (dialect === 'messages') return t.post('/v1/messages', { model, max_tokens: 50, messages, ...more }, headers)
  return t.post('/v1/chat/completions', { model, messages, ...more }, headers)
}

/** An invalid field other than the model. */
const WRONG: Record<Dialect, object> = {
  chat: { temperature: 'warm' },
  messages: { max_tokens: 0 },
  responses: { max_output_tokens: 0 },
  generate_content: { generationConfig: { maxOutputTokens: 0 } },
}

describe.each(DIALECTS)('the log row of a refused %s request names the model', (dialect) => {
  const refused = async (t: TestGateway, asked: Asked, status: number, model = `${dialect}/m`) => {
    const answer = await ask(t, dialect, asked)
    expect(answer.status, await answer.text()).toBe(status)
    const { data } = await logs(t)
    expect(data[0]).toMatchObject({ status, provider: null, requested_model: model })
  }

  it('where a field, the model or the stream member is wrong', async () => {
    const t = await createTestGateway({ upstream: [text('hello')] })
    await refused(t, { more: WRONG[dialect] }, 400)
    if (dialect !== 'generate_content') {
      await refused(t, { more: { stream: 'yes' } }, 400)
      const long = `${dialect}/${'x'.repeat(300)}`
      await refused(t, { model: long }, 400, long.slice(0, 256))
      await refused(t, { model: long, more: WRONG[dialect] }, 400, long.slice(0, 256))
    } else {
      const broken = await t.fetch('/v1beta/models/chat/m:generateContent', { method: 'POST', body: '{' })
      expect(broken.status).toBe(400)
      expect((await logs(t)).data[0]).toMatchObject({ status: 400, requested_model: 'chat/m' })
    }
    await refused(t, { model: 'nobody/at-home' }, 400, 'nobody/at-home')
    expect(t.upstream.requests).toEqual([])
    await t.close()
  })

  it('where the key may not, or not now', async () => {
    const t = await createTestGateway({ upstream: [text('hello')] })
    const narrow = bearer((await makeKey(t, { allowed_models: ['other/*'] })).key)
    await refused(t, { headers: narrow }, 403)
    const slow = bearer((await makeKey(t, { rate_limit_rpm: 1 })).key)
    expect((await ask(t, dialect, { headers: slow })).status).toBe(200)
    await refused(t, { headers: slow }, 429)
    await t.close()
  })

  it('where a guardrail or a budget refuses', async () => {
    const t = await createTestGateway({
      upstream: [text('hello')],
      config: { settings: { guardrails: { enabled: true, secrets: { mode: 'block' } } } },
    })
    await refused(t, { content: `my key is ${SECRET}` }, 400)
    expect((await t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 0 })).status).toBe(201)
    await refused(t, {}, 402)
    await t.close()
  })
})
