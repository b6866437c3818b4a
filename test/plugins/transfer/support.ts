// Gateways with a row of each kind that can be exported, and calls of the two routes.
import { afterEach, expect } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'

export const PASSPHRASE = 'correct horse battery'
export const KEY = 'sk-to-be-moved-0123456789'
export const HOOK = 'https://hooks.example.com/services/T0/secret-path'

export const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

export async function gateway(config: GatewayConfig = {}, env: Record<string, string> = {}): Promise<TestGateway> {
  const t = await createTestGateway({ config: { connections: {}, ...config }, env })
  ended.push(() => t.close())
  return t
}

export async function send<T>(
  t: TestGateway,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: T }> {
  const response = await t.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as T }
}

export async function made<T>(t: TestGateway, path: string, body: unknown, method = 'POST'): Promise<T> {
  const answer = await send<T>(t, method, path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

export interface Document {
  hookgate_export: number
  rows: Record<string, { name: string; data: Record<string, unknown> }[]>
  secrets: Record<string, unknown> | null
  skipped: { kind: string; name: string; reason: string }[]
  [member: string]: unknown
}
export interface Step {
  kind: string
  name: string
  action: string
  changes: string[]
  reason: string | null
}
export interface Refusal {
  error: { message: string; param: string | null; code: string | null }
}

export const exported = (t: TestGateway, passphrase: string | null = null) => made<Document>(t, '/api/export', { passphrase })
export const imported = (t: TestGateway, document: unknown, more: object = {}) =>
  send<{ data: Step[] } & Refusal>(t, 'POST', '/api/import', { document, ...more })

/** A row of each kind, and references between them. */
export async function filled(env: Record<string, string> = {}): Promise<TestGateway> {
  const t = await gateway({}, env)
  await made(t, '/api/providers', { provider: 'openai', label: 'main', api_key: KEY, headers: { 'x-team': 'hush-hush-team' } })
  const { id } = await made<{ id: number }>(t, '/api/providers', { provider: 'echo', label: 'try', caps: 'none' })
  const targets = [{ target: 'echo/echo-1', connection_id: id, weight: 2 }, 'openai/gpt-4.1']
  await made(t, '/api/virtual-models', { name: 'fast', strategy: 'weighted', targets, config: { max_attempts: 3 } })
  await made(t, '/api/budgets', { scope: 'org', window: 'monthly', hard_limit_usd: 12.5 })
  await made(t, '/api/budgets', { scope: 'virtual_model', entity_label: 'fast', window: 'daily', hard_limit_usd: 1 })
  await made(t, '/api/webhooks/endpoints', { url: HOOK, event_types: ['request.failed'] })
  const proxy_url = 'http://u:hush-hush-proxy@proxy.example.com:3128'
  const pool = await made<{ id: number }>(t, '/api/proxy-pools', { name: 'out', proxy_url })
  await made(t, '/api/proxy-pools/assign', { proxy_id: pool.id, connection_id: id })
  const overrides = [
    { model: 'openai/gpt-4.1*', input: 1.8 },
    { model: 'lab/*', input: 0, output: 0 },
  ]
  await made(t, '/api/pricing/overrides', { data: overrides }, 'PUT')
  await made(t, '/api/settings', { stream_heartbeat_ms: 7000 }, 'PUT')
  return t
}

export const SECRETS = [KEY, 'hush-hush', 'secret-path', 'whsec_']
export const bare = ({ rows }: Document) => rows
export const changing = (steps: readonly Step[]) => steps.filter(({ action }) => action !== 'unchanged')
