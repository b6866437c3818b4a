// A gateway with something on every page: connections, keys, virtual models, budgets, webhooks, requests that worked and that failed.

import type { RunningServer } from '../../adapters/node/server/serve.ts'
import type { FakeClock } from '../../adapters/testing/fake-clock.ts'
import { fail, text as scripted } from '../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway } from '../../adapters/testing/test-gateway.ts'

export interface Demo {
  readonly t: TestGateway
  readonly origin: string
}

export interface DemoTexts {
  /** Placed in every label, description and message that callers or upstreams choose. */
  readonly text?: string
  /** Default: the system's. */
  readonly clock?: FakeClock
}

/** @param texts.text default: an ordinary name */
export async function demo({ text = 'main', clock }: DemoTexts = {}): Promise<Demo> {
  const t = await createTestGateway({
    env: { PRICING_SYNC_ENABLED: 'false', LOG_BODIES: 'true' },
    ports: { outboundPost: async () => ({ status: 500 }), ...(clock && { clock }) },
    upstream: [scripted(text), fail(500, { message: text }), scripted(text)],
  })
  const server: RunningServer = await t.listen()
  const label = text.slice(0, 60)
  await t.post('/api/providers', { provider: 'echo', label })
  const key = (await (await t.post('/api/keys', { label })).json()) as { key?: string }
  await t.post('/api/virtual-models', {
    name: 'coder',
    strategy: 'failover',
    description: text.slice(0, 200),
    targets: ['echo/echo-1', 'chat/m'],
  })
  await t.post('/api/budgets', { scope: 'org', window: 'daily', hard_limit_usd: 10 })
  await t.post('/api/webhooks/endpoints', { url: 'https://hooks.example.com/in' })
  const headers = { authorization: `Bearer ${key.key}`, 'x-session-id': 'session-1' }
  const messages = [{ role: 'user', content: text }]
  let settled = 0
  for (const model of ['coder', 'echo/echo-1', 'chat/m', 'no-such-model']) {
    await t.post('/v1/chat/completions', { model, messages }, headers)
    await t.untilCommitted(++settled)
  }
  // Windows end before the time that is now.
  await clock?.advance(120_000)
  return { t, origin: server.url }
}
