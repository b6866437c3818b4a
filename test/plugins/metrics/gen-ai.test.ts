// GET /metrics under the names of the OpenTelemetry conventions for generative AI, and the maximum number of series that callers can
// cause.
import { afterEach, describe, expect, it } from 'vitest'
import { fail, reply } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { DIALECTS } from '../../support/dialects.ts'
import { ask } from '../helicone/support.ts'

let t: TestGateway
afterEach(() => t.close())

const used = reply({ text: 'hello', usage: { input: 100, output: 20 } })

/** Returns samples of one metric by their labels, as one text. */
async function samples(name: string): Promise<Record<string, number>> {
  const text = await (await t.fetch('/metrics')).text()
  const found = [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
  return Object.fromEntries(found.map(([, labels = '', value]) => [labels, Number(value)]))
}
const labels = (more: Record<string, string>) =>
  Object.entries(more)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')
const call = (provider: string, model: string) => ({
  gen_ai_operation_name: 'chat',
  gen_ai_provider_name: provider,
  gen_ai_request_model: model,
})

describe('GenAI metrics', () => {
  it.each(DIALECTS)('count tokens and seconds of %s calls, streamed and not, by provider and model', async (dialect) => {
    t = await createTestGateway({ upstream: [used] })
    for (const stream of [false, true]) expect((await ask(t, {}, { dialect, stream })).status).toBe(200)
    const sums = await samples('gen_ai_client_token_usage_sum')
    expect(sums).toEqual({
      [labels({ ...call(dialect, 'm'), gen_ai_token_type: 'input' })]: 200,
      [labels({ ...call(dialect, 'm'), gen_ai_token_type: 'output' })]: 40,
    })
    const bucket = labels({ ...call(dialect, 'm'), gen_ai_token_type: 'input', le: '256' })
    expect((await samples('gen_ai_client_token_usage_bucket'))[bucket]).toBe(2)
    const ok = labels({ ...call(dialect, 'm'), error_type: '' })
    expect(await samples('gen_ai_client_operation_duration_seconds_count')).toEqual({ [ok]: 2 })
    expect(await samples('gen_ai_server_request_duration_seconds_count')).toEqual({
      [labels({ gen_ai_operation_name: 'chat', error_type: '' })]: 2,
    })
    expect(Object.keys(await samples('gen_ai_server_time_to_first_token_seconds_count'))).toEqual([
      labels({ gen_ai_operation_name: 'chat' }),
    ])
  })

  it('call providers as the conventions do', async () => {
    const baseUrl = 'http://127.0.0.1:9/v1'
    t = await createTestGateway({ config: { connections: { xai: { provider: 'xai', baseUrl, apiKey: 'k' } } } })
    await ask(t, {}, { more: { model: 'xai/grok' } })
    expect(await samples('gen_ai_client_operation_duration_seconds_count')).toEqual({
      [labels({ ...call('x_ai', 'other'), error_type: '502' })]: 1,
    })
  })

  it('name the failure, and no model that only failed', async () => {
    t = await createTestGateway({ upstream: [fail(503)], config: { settings: { breaker: { failure_threshold: 1000 } } } })
    for (let i = 0; i < 30; i++) await ask(t, {}, { more: { model: `chat/made-up-${i}` } })
    for (let i = 0; i < 30; i++) await ask(t, {}, { more: { model: `nobody/made-up-${i}` } })
    expect(await samples('gen_ai_client_operation_duration_seconds_count')).toEqual({
      [labels({ ...call('chat', 'other'), error_type: '503' })]: 30,
    })
    expect(await samples('gen_ai_client_token_usage_count')).toEqual({})
    expect(await (await t.fetch('/metrics')).text()).not.toContain('made-up')
  })

  it('have 200 models of their own, whatever callers ask an upstream that answers to any name', async () => {
    t = await createTestGateway({ upstream: [used] })
    for (let i = 0; i < 220; i++) await ask(t, {}, { more: { model: `${i % 2 ? 'chat' : 'messages'}/any-${i}` } })
    await ask(t, {}, { more: { model: 'chat/any-1' } })
    const counts = await samples('gen_ai_client_operation_duration_seconds_count')
    const names = Object.keys(counts)
    expect(names).toHaveLength(202)
    expect(names.filter((name) => name.includes('="other"'))).toHaveLength(2)
    expect(counts[labels({ ...call('chat', 'any-1'), error_type: '' })]).toBe(2)
    expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(221)
  })
})
