// Connections of an organization: it is not served by those of the configuration.
import { expect } from 'vitest'
import type { TestGateway } from '../../adapters/testing/test-gateway.ts'

/** Gives an organization a connection of its own to the gateway's upstream. The lowest priority is tried first. */
export async function connected(t: TestGateway, orgId: number, { priority = 10 }: { priority?: number } = {}): Promise<void> {
  const body = {
    provider: 'chat',
    label: `of ${orgId}, ${priority}`,
    base_url: t.upstream.baseUrl('chat'),
    wire_format: 'chat',
    api_key: 'sk-own',
    priority,
  }
  const operator = { actor: 'test', orgId, role: 'owner', readOnly: false, auth: 'host' } as const
  const request = new Request('http://gateway.test/api/providers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await t.gateway.control.fetch(request, { address: null, local: false, secure: true, operator })
  expect(answer.status, await answer.text()).toBe(201)
}
