// GATEWAY_FINGERPRINT_VERSIONS.
import { afterEach, describe, expect, it } from 'vitest'
import { scriptedUpstream } from '../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'
import { versionsIn } from '../../core/client-versions.ts'

let t: TestGateway | null = null
afterEach(() => t?.close())

/** Sends one request; returns the header and what the registry shows. */
async function version(env: Record<string, string> = {}): Promise<unknown[]> {
  const upstream = await scriptedUpstream()
  const github = { provider: 'github-models', baseUrl: upstream.baseUrl('chat'), apiKey: 'k' } as const
  t = await createTestGateway({ env, config: { connections: { github } } })
  const answer = await t.post('/v1/chat/completions', { model: 'github-models/m', messages: [{ role: 'user', content: 'Hi' }] })
  expect(answer.status).toBe(200)
  const { data } = (await (await t.fetch('/api/registry')).json()) as { data: { id: string; client_version: string | null }[] }
  await upstream.close()
  const shown = (id: string) => data.find((one) => one.id === id)?.client_version
  return [upstream.requests[0]?.headers['x-github-api-version'], shown('github-models'), shown('openai')]
}

describe('a client version', () => {
  it('is sent where the vendor documents the header, and the registry shows it', async () => {
    expect(await version()).toEqual(['2022-11-28', '2022-11-28', null])
  })

  it('is overridden by provider id; ids without such a header are ignored', async () => {
    const FINGERPRINT_VERSIONS = JSON.stringify({ 'github-models': '2026-01-01', openai: '9', nobody: '1' })
    expect(await version({ FINGERPRINT_VERSIONS })).toEqual(['2026-01-01', '2026-01-01', null])
  })

  it.each([
    '[1]',
    '"x"',
    '{broken',
    '{"github-models": 5}',
    '{"github-models": "a b"}',
    '{"github-models": "a\\r\\nx: y"}',
  ])('of %s is ignored', async (given) => {
    expect(await version({ FINGERPRINT_VERSIONS: given })).toEqual(['2022-11-28', '2022-11-28', null])
  })

  it('that is ignored is logged', () => {
    const lines: string[] = []
    const log = { warn: (message: string) => void lines.push(message) }
    expect(versionsIn([1], log).size).toBe(0)
    expect(versionsIn({ a: 1, b: '2' }, log)).toEqual(new Map([['b', '2']]))
    expect(lines).toEqual(['fingerprint_versions.ignored', 'fingerprint_versions.ignored'])
  })
})
