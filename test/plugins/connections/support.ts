// Calls of /api/providers, and a gateway for them.
import type { TestGateway } from '../../../adapters/testing/test-gateway.ts'

export interface Provider {
  id: number
  provider: string
  label: string
  state: { status: string; [member: string]: unknown }
  [member: string]: unknown
}

export interface Verdict {
  ok: boolean
  status: number | null
  latency_ms: number
  model: string | null
  error: { kind: string; message: string; hint: string } | null
}

/** For gateways over a database that survives them. */
export const MASTER_KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7 + 3)).toString('base64')

type Caller = Pick<TestGateway, 'fetch'>

export function call(t: Caller, method: string, path: string, body?: unknown): Promise<Response> {
  return t.fetch(path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

export async function add(t: Caller, body: Record<string, unknown>): Promise<Provider> {
  const response = await call(t, 'POST', '/api/providers', body)
  if (response.status !== 201) throw new Error(`POST /api/providers: ${response.status} ${await response.text()}`)
  return (await response.json()) as Provider
}

export async function list(t: Caller): Promise<Provider[]> {
  return ((await (await t.fetch('/api/providers')).json()) as { data: Provider[] }).data
}

export async function testOf(t: Caller, id: number, body?: unknown): Promise<Verdict> {
  const response = await call(t, 'POST', `/api/providers/${id}/test`, body)
  if (response.status !== 200) throw new Error(`POST /api/providers/${id}/test: ${response.status} ${await response.text()}`)
  return (await response.json()) as Verdict
}
