// GET /api/registry: every provider of the registry, and how many connections it has.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { add, call } from '../connections/support.ts'

interface Entry {
  id: string
  [member: string]: unknown
}

describe('/api/registry', () => {
  it('says of each provider what it needs, and counts connections by alias too', async () => {
    const t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
    const registry = async () => ((await (await t.fetch('/api/registry')).json()) as { data: Entry[] }).data
    const of = async (id: string) => (await registry()).find((entry) => entry.id === id)
    expect(await of('openai')).toEqual({
      id: 'openai',
      aliases: [],
      base_url: 'https://api.openai.com/v1',
      wire_formats: ['chat', 'responses'],
      endpoints: ['chat'],
      auth: ['api_key'],
      needs_key: true,
      key_variable: 'OPENAI_API_KEY',
      capabilities: { pdf_input: true },
      connections: 0,
    })
    expect(await of('azure')).toMatchObject({ base_url: null, aliases: ['azure-openai'] })
    expect(await of('ollama')).toMatchObject({ needs_key: false, key_variable: null, endpoints: ['chat', 'count_tokens'] })
    expect(await of('github-models')).toMatchObject({ key_variable: 'GITHUB_MODELS_API_KEY' })
    expect(await of('echo')).toMatchObject({ connections: 1 })
    const made = await add(t, { provider: 'gemini', api_key: 'sk-registry-canary', enabled: false })
    expect(await of('google')).toMatchObject({ connections: 1 })
    await call(t, 'DELETE', `/api/providers/${made.id}`)
    expect(await of('google')).toMatchObject({ connections: 0 })
    expect((await registry()).map(({ id }) => id)).toContain('vllm')
    await t.close()
  })
})
