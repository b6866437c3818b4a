// GET /api/registry: every provider of the registry, and how many connections it has.
import { describe, expect, it } from 'vitest'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import { defineProvider } from '../../../core/providers.ts'
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
      name: 'OpenAI',
      docs_url: 'https://platform.openai.com/docs/api-reference',
      base_url: 'https://api.openai.com/v1',
      wire_formats: ['chat', 'responses'],
      endpoints: ['chat', 'compact', 'embeddings', 'moderations', 'images', 'speech', 'transcription', 'completions'],
      auth: ['api_key'],
      needs_key: true,
      key_variable: 'OPENAI_API_KEY',
      supports_usage_api: false,
      oauth_flow: null,
      client_version: null,
      capabilities: { pdf_input: true },
      connections: 0,
    })
    expect(await of('azure')).toMatchObject({ base_url: null, aliases: ['azure-openai'] })
    expect(await of('ollama')).toMatchObject({
      needs_key: false,
      key_variable: null,
      endpoints: ['chat', 'count_tokens', 'completions', 'embeddings'],
    })
    expect(await of('github-models')).toMatchObject({ key_variable: 'GITHUB_MODELS_API_KEY' })
    expect(await of('echo')).toMatchObject({ connections: 1 })
    const made = await add(t, { provider: 'gemini', api_key: 'sk-registry-canary', enabled: false })
    expect(await of('google')).toMatchObject({ connections: 1 })
    await call(t, 'DELETE', `/api/providers/${made.id}`)
    expect(await of('google')).toMatchObject({ connections: 0 })
    expect(await of('openrouter')).toMatchObject({ supports_usage_api: true })
    for (const { id, name, docs_url } of await registry()) {
      expect(name, id).not.toBe(id)
      if (id !== 'echo') expect(docs_url, id).toMatch(/^https:\/\/\S+[^/]$/)
    }
    expect((await registry()).map(({ id }) => id)).toContain('vllm')
    await t.close()
  })

  it('shows providers of plugins and of the configuration as they say, or by their id', async () => {
    const acme = defineProvider({ ...customs, id: 'acme', name: 'Acme', docsUrl: 'https://acme.example.com/docs' })
    const t = await createTestGateway({ config: { providers: [acme, defineProvider({ ...customs, id: 'plain' })] } })
    const { data } = (await (await t.fetch('/api/registry')).json()) as { data: Entry[] }
    const of = (id: string) => data.find((entry) => entry.id === id)
    expect(of('acme')).toMatchObject({ name: 'Acme', docs_url: 'https://acme.example.com/docs' })
    expect(of('plain')).toMatchObject({ name: 'plain', docs_url: null, supports_usage_api: false })
    await t.close()
  })
})

const customs = {
  aliases: [],
  baseUrl: 'https://acme.example.com/v1',
  dialects: { chat: '' },
  quirks: {},
  needsKey: true,
  caps: () => ({ family: 'acme' }),
  dialectFor: () => 'chat' as const,
  authorize() {},
}
