// Facts of a model on custom connections: the family's rules apply, `caps` overrides them, and `caps: 'none'` disables them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedUpstream, scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import type { Dialect } from '../../core/types/request/canonical.ts'

const USER = { role: 'user', content: 'hi' }
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
const CALLED = [
  USER,
  { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: 'c1', content: 'ok' },
]
const FORMAT = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object', properties: {} } } }

let t: TestGateway
let up: ScriptedUpstream
beforeAll(async () => {
  up = await scriptedUpstream()
  const at = (wireFormat: Dialect, caps?: object | 'none') => ({
    provider: 'custom',
    baseUrl: up.baseUrl(wireFormat),
    wireFormat,
    apiKey: 'sk-1',
    ...(caps === undefined ? {} : { caps }),
  })
  t = await createTestGateway({
    config: {
      connections: {
        messages: at('messages'),
        chat: at('chat'),
        gemini: at('generate_content'),
        open: at('messages', 'none'),
        own: at('messages', { sampling: 'free', prefill: true }),
      },
    },
  })
})
afterAll(async () => {
  await t.close()
  await up.close()
})

async function sent(model: string, body: object): Promise<{ body: Record<string, unknown>; warnings: string | null }> {
  const response = await t.post('/v1/chat/completions', { model, messages: [USER], ...body })
  expect(response.status, await response.clone().text()).toBe(200)
  return {
    body: JSON.parse(up.requests.at(-1)?.text ?? '{}') as Record<string, unknown>,
    warnings: response.headers.get('x-gateway-warnings'),
  }
}

describe('on a custom connection', () => {
  it.each([
    'claude-opus-4-7',
    'us.anthropic.claude-opus-4-7-v1:0',
    'vertex_ai/claude-opus-4-7',
  ])('%s loses sampling parameters and thinks adaptively', async (model) => {
    const { body, warnings } = await sent(`messages/${model}`, { temperature: 0.3, reasoning_effort: 'high' })
    expect(body).not.toHaveProperty('temperature')
    expect(body.thinking).toMatchObject({ type: 'adaptive' })
    expect(warnings).toContain('dropped_temperature')
  })

  it('an older claude thinks with a budget', async () => {
    const { body } = await sent('messages/claude-sonnet-4-5', { reasoning_effort: 'high', max_tokens: 20_000 })
    expect(body.thinking).toMatchObject({ type: 'enabled', budget_tokens: expect.any(Number) })
  })

  it('a claude that takes no prefill gets none, and a system message in the middle stays where the model takes it', async () => {
    const prefilled = await sent('messages/claude-opus-4-8', { messages: [USER, { role: 'assistant', content: 'So' }] })
    expect((prefilled.body.messages as { role: string }[]).at(-1)?.role).toBe('user')
    const middle = { messages: [USER, { role: 'assistant', content: 'yes' }, USER, { role: 'system', content: 'be brief' }] }
    expect(JSON.stringify((await sent('messages/claude-opus-4-8', middle)).body.messages)).toContain('"role":"system"')
    expect(JSON.stringify((await sent('messages/claude-opus-4-5', middle)).body.messages)).not.toContain('"role":"system"')
  })

  it('gemini 3 gets the sentinel and gemini 2.5 does not; JSON with tools follows too', async () => {
    const three = await sent('gemini/gemini-3-pro', { messages: CALLED, tools: [TOOL], response_format: FORMAT })
    expect(JSON.stringify(three.body)).toContain('thoughtSignature')
    expect(JSON.stringify(three.body)).toContain('responseJsonSchema')
    const two = await sent('gemini/google/gemini-2.5-pro', { messages: CALLED, tools: [TOOL], response_format: FORMAT })
    expect(JSON.stringify(two.body)).not.toContain('thoughtSignature')
    expect(JSON.stringify(two.body.generationConfig ?? {})).not.toContain('responseJsonSchema')
  })

  it.each([
    'o3-mini',
    'openai/o4-mini',
    'azure/gpt-5',
  ])('%s in chat takes no temperature and its own word for the limit', async (model) => {
    const { body } = await sent(`chat/${model}`, { temperature: 0.2, max_tokens: 50 })
    expect(body).not.toHaveProperty('temperature')
    expect(body).toMatchObject({ max_completion_tokens: 50 })
  })

  it('a claude with budgets keeps the effort in chat: the host turns it into a budget', async () => {
    expect((await sent('chat/claude-sonnet-4-5', { reasoning_effort: 'high' })).body.reasoning_effort).toBe('high')
    expect((await sent('chat/claude-sonnet-4-5', { reasoning_effort: 'none' })).body).not.toHaveProperty('reasoning_effort')
  })

  it('another model keeps everything', async () => {
    const { body, warnings } = await sent('chat/llama-3', { temperature: 1.7, max_tokens: 50, reasoning_effort: 'high' })
    expect(body).toMatchObject({ temperature: 1.7, max_tokens: 50, reasoning_effort: 'high' })
    expect(warnings).toBeNull()
  })
})

describe('`caps`', () => {
  it('none switches the facts off', async () => {
    expect((await sent('open/claude-opus-4-7', { temperature: 0.3 })).body.temperature).toBe(0.3)
  })

  it('goes over the facts, member by member', async () => {
    const { body } = await sent('own/claude-opus-4-7', {
      temperature: 0.3,
      messages: [USER, { role: 'assistant', content: 'So' }],
    })
    expect(body.temperature).toBe(0.3)
    expect((body.messages as { role: string }[]).at(-1)?.role).toBe('assistant')
  })

  it('is stored, shown and changed through the API', async () => {
    const send = async (method: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await t.fetch(path, { method, headers, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const caps = { temperature_max: 1, thinking: { between_tools: true }, efforts: ['low'] }
    const made = await send('POST', '/api/providers', {
      provider: 'acme',
      base_url: up.baseUrl('messages'),
      wire_format: 'messages',
      api_key: 'sk-2',
      caps,
    })
    expect(made).toMatchObject({ status: 201, body: { caps } })
    const path = `/api/providers/${made.body.id}`
    expect((await send('PUT', path, { label: 'x' })).body.caps).toEqual(caps)
    expect((await send('PUT', path, { caps: 'none' })).body.caps).toBe('none')
    expect((await sent('acme/claude-opus-4-7', { temperature: 0.3 })).body.temperature).toBe(0.3)
    expect((await send('PUT', path, { caps: null })).body.caps).toBeNull()
    expect((await sent('acme/claude-opus-4-7', { temperature: 0.3 })).body).not.toHaveProperty('temperature')
    const wrong = await send('PUT', path, { caps: { temperatur_max: 1 } })
    expect(wrong.status).toBe(400)
    expect(JSON.stringify(wrong.body)).toContain('temperatur_max')
  })
})
