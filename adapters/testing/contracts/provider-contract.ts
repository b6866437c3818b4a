// Contract tests for a provider: it has a name and dialects, and puts its credential only into headers.
import assert from 'node:assert/strict'
import type { WireRequest } from '../../../core/types/ports/ports.ts'
import type { Connection, Provider } from '../../../core/types/ports/provider.ts'
import type { CanonicalRequest, Dialect } from '../../../core/types/request/canonical.ts'
import type { ContractCase } from './contract.ts'

const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

export function providerContract(provider: Provider): ContractCase[] {
  const spoken = Object.keys(provider.dialects) as Dialect[]
  return [
    {
      name: `${provider.id}: has a usable id, aliases and base URLs`,
      run() {
        for (const id of [provider.id, ...provider.aliases]) assert.match(id, /^[a-z0-9][a-z0-9._-]*$/)
        for (const url of [provider.baseUrl, ...Object.values(provider.dialects)]) {
          if (url) assert.match(new URL(url).protocol, /^https?:$/)
        }
        const served = Object.keys(provider.operations ?? {})
        assert.ok(spoken.length + served.length > 0, 'speaks a dialect or serves an operation')
      },
    },
    {
      name: `${provider.id}: picks a dialect it speaks, for every caller`,
      run() {
        if (spoken.length === 0) return
        const pick = (caller: Dialect) =>
          provider.dialectFor(() => emptyRequest(caller), caller, provider.caps('some-model'), connection())
        const picks = new Set(DIALECTS.map(pick))
        for (const picked of picks) assert.ok(spoken.includes(picked), picked)
        // A provider that serves each model in one dialect picks it for every caller.
        if (picks.size > 1) for (const caller of spoken) if (DIALECTS.includes(caller)) assert.equal(pick(caller), caller)
      },
    },
    {
      name: `${provider.id}: authorizes in a header and nowhere else`,
      async run() {
        for (const dialect of spoken) {
          const wire = wireRequest()
          await provider.authorize(wire, dialect, 'secret-canary', { connection: connection(), target: { model: 'some-model' } })
          assert.equal(wire.url, wireRequest().url)
          assert.equal(wire.body, null)
          if (provider.needsKey) assert.ok(wire.headers.some((value) => value.includes('secret-canary')))
        }
      },
    },
    {
      name: `${provider.id}: knows a family for any model, and says nothing it does not know`,
      run() {
        const caps = provider.caps('a-model-nobody-has-heard-of')
        assert.ok(caps.family.length > 0)
        assert.deepEqual(provider.caps('a-model-nobody-has-heard-of'), caps)
      },
    },
  ]
}

function connection(): Connection {
  return {
    id: '1',
    provider: 'test',
    baseUrl: 'https://upstream.test/v1',
    label: 'test',
    wireFormat: null,
    allowedModels: [],
    priority: 0,
    maxInflight: null,
    proxyUrl: null,
    headers: {},
    defaultModel: null,
  }
}

function wireRequest(): WireRequest {
  return {
    method: 'POST',
    url: 'https://upstream.test/v1/x',
    headers: [],
    body: null,
    proxyUrl: null,
    connectTimeoutMs: 0,
    stream: false,
  }
}

function emptyRequest(source: Dialect): CanonicalRequest {
  return { model: 'm', stream: false, source, system: [], messages: [], tools: [], sampling: {}, headers: {}, ext: {} }
}
