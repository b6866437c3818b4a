// Guardrails run before the budget check and the caches, and cost nothing while they are off.
import { afterEach, describe, expect, it } from 'vitest'
import { createTestGateway, reply, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { bearer, makeKey } from '../keys/support.ts'
import { change, guarded, PERSONAL, SECRETS, sent } from './support.ts'

const open: TestGateway[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

describe('guardrails in the pipeline', () => {
  it('a request that is blocked is 400, also where a budget is used up', async () => {
    const t = await guarded({ guardrails: { secrets: { mode: 'block' } } })
    open.push(t)
    const { key, id } = await makeKey(t)
    const budget = { scope: 'key', entity_id: id, hard_limit_usd: 0, window: 'monthly' }
    const made = await t.post('/api/budgets', budget)
    expect(made.status, await made.text()).toBe(201)
    expect((await sent(t, 'chat', 'plain', { headers: bearer(key) })).status).toBe(402)
    expect((await sent(t, 'chat', SECRETS.openai, { headers: bearer(key) })).status).toBe(400)
  })

  it('what a cache keeps is what was let through, and under other rules nothing old is found', async () => {
    const t = await guarded({ guardrails: { pii: { mode: 'redact', output: true } } })
    open.push(t)
    await change(t, { 'exact_cache.ttl_ms': 60_000 })
    t.upstream.script(text(`write to ${PERSONAL.email}`))
    const asked = async () => {
      const messages = [{ role: 'user', content: 'I am a@example.org' }]
      const response = await t.post('/v1/chat/completions', { model: 'chat/m', messages })
      return { cache: response.headers.get('x-gateway-cache'), body: await response.text() }
    }
    const first = await asked()
    expect(first.body).toContain('[EMAIL_REDACTED]')
    expect(await asked()).toEqual({ cache: 'hit', body: first.body })
    await change(t, { 'guardrails.pii.output': false })
    const third = await asked()
    expect(third.cache).toBe('miss')
    expect(third.body).toContain(PERSONAL.email)
  })

  it('an answer that was blocked is kept by no cache', async () => {
    const t = await guarded({ guardrails: { secrets: { mode: 'block' } } })
    open.push(t)
    await change(t, { 'exact_cache.ttl_ms': 60_000 })
    t.upstream.script(text(SECRETS.openai), text('fine'))
    expect((await sent(t, 'chat', 'hi')).status).toBe(400)
    const again = await sent(t, 'chat', 'hi')
    expect([again.status, again.text.includes('fine')]).toEqual([200, true])
  })

  it('while they are off, requests and answers stay in their bytes and are never decoded', async () => {
    const t = await createTestGateway({ upstream: [reply({ text: 'ok' })] })
    open.push(t)
    const body = '{ "model":"chat/m","messages":[{"role":"user","content":"hi"}],  "odd": 1 }'
    await t.post('/v1/chat/completions', body)
    expect(t.upstream.requests[0]?.text).toBe(body.replace('chat/m', 'm'))
    await t.untilSettled(1)
    expect((t.settled[0]?.ctx as unknown as { decoded: boolean }).decoded).toBe(false)
    expect(t.settled[0]?.ctx.notes).toBeNull()
  })
})
