// GET /api/logs/summary counts each request once, with those that were refused before any upstream was asked.
import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { fail, reply, text } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { bearer, makeKey } from '../keys/support.ts'

interface Summary {
  requests: number
  answered: number
  refused: number
  failed: number
  retried: number
  p50_ms: number | null
  by_key: object[]
  by_virtual_model: object[]
  errors: { provider: string | null; status: number; code: string | null; requests: number }[]
}

describe('the summary of the log', () => {
  let t: TestGateway
  afterEach(() => t.close())

  const summary = async (window = '24h') => (await (await t.fetch(`/api/logs/summary?window=${window}`)).json()) as Summary

  it('is empty before the first request', async () => {
    t = await createTestGateway()
    expect(await summary()).toMatchObject({ requests: 0, answered: 0, p50_ms: null, errors: [] })
  })

  it('counts answers, refusals and failures, and groups the latter', async () => {
    t = await createTestGateway({ upstream: [text('a'), fail(400), fail(400), text('b')] })
    const ask = (model: string) => t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] })
    const statuses = []
    for (const model of ['chat/m', 'chat/m', 'chat/m', 'no-such-model', 'chat/m']) {
      statuses.push((await ask(model)).status)
      await t.untilCommitted(statuses.length)
    }
    expect(statuses).toEqual([200, 400, 400, 400, 200])
    const found = await summary()
    expect(found).toMatchObject({ requests: 5, answered: 2, refused: 3, failed: 0, retried: 0 })
    expect(found.errors.map(({ provider, status, requests }) => [provider, status, requests])).toEqual([
      ['chat', 400, 2],
      [null, 400, 1],
    ])
    expect(found.requests).toBe(found.answered + found.refused + found.failed)
  })

  it('counts for keys and virtual models also what reached no upstream', async () => {
    t = await createTestGateway({ upstream: [text('a'), fail(401)] })
    const { id, key } = await makeKey(t, { label: 'ci' })
    await t.post('/api/virtual-models', { name: 'coder', strategy: 'failover', targets: ['chat/m'] })
    const statuses = []
    for (const model of ['coder', 'coder', 'coder', 'coder', 'no-such-model']) {
      const body = { model, messages: [{ role: 'user', content: 'x' }] }
      statuses.push((await t.post('/v1/chat/completions', body, bearer(key))).status)
      await t.untilCommitted(statuses.length)
    }
    expect(statuses).toEqual([200, 502, 502, 502, 400])
    // The account whose credential was refused is not asked again.
    expect(t.upstream.requests).toHaveLength(2)
    const { by_key, by_virtual_model } = await summary()
    expect(by_virtual_model).toEqual([{ virtual_model: 'coder', requests: 4, refused: 0, failed: 3 }])
    expect(by_key).toEqual([{ key_id: id, key: 'ci', requests: 5, refused: 1, failed: 3 }])
  })

  it('tells how fast streams were, and what the same window was a day earlier', async () => {
    const clock = fakeClock()
    const slow = reply({ text: 'One two three.', usage: { input: 3, output: 40 } }, { hold: () => clock.advance(500) })
    t = await createTestGateway({ upstream: [slow], ports: { clock } })
    await (
      await t.post('/v1/chat/completions', { model: 'chat/m', stream: true, messages: [{ role: 'user', content: 'x' }] })
    ).text()
    await t.untilCommitted(1)
    const now = (await summary('1h')) as Summary & { tokens_per_s_p50: number | null }
    expect(now.requests).toBe(1)
    const { latency_ms, ttft_ms } = (
      (await (await t.fetch('/api/logs')).json()) as { data: [{ latency_ms: number; ttft_ms: number }] }
    ).data[0]
    expect(now.tokens_per_s_p50).toBe(Math.round((40 / (latency_ms - ttft_ms)) * 10_000) / 10)
    const until = new Date(clock.now() - 86_400_000).toISOString()
    expect(await summary('1h&back_days=1')).toMatchObject({ requests: 0, tokens_per_s_p50: null, window: { until } })
  })

  it('refuses a window that it does not have', async () => {
    t = await createTestGateway()
    const answer = await t.fetch('/api/logs/summary?window=1y')
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: 'window' } }])
  })
})
