// A gateway with the log, and functions to query it.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { audit } from '../../../plugins/audit/index.ts'
import { connections } from '../../../plugins/connections/index.ts'
import { keys } from '../../../plugins/keys/index.ts'
import { metrics } from '../../../plugins/metrics/index.ts'
import { requestLog } from '../../../plugins/request-log/index.ts'
import { settings } from '../../../plugins/settings/index.ts'
import { signIn } from '../../../plugins/sign-in/index.ts'
import { virtualModels } from '../../../plugins/virtual-models/index.ts'

export interface LogTestOptions extends TestGatewayOptions {
  /** Listed before the log. */
  before?: Plugin[]
}

export function loggingGateway({ before = [], ...options }: LogTestOptions = {}): Promise<TestGateway> {
  const plugins = [settings(), audit(), signIn(), keys(), connections(), virtualModels(), ...before, requestLog(), metrics()]
  return createTestGateway({ ...options, config: { ...options.config, plugins } })
}

export interface ListedRow {
  request_id: string
  created_at: string
  source: string
  endpoint: string | null
  provider: string | null
  model: string | null
  status: number
  error_code: string | null
  tokens: { prompt: number; completion: number; total: number }
  attempts: number
  stream: boolean
  api_key_label: string | null
  [member: string]: unknown
}

export interface Page {
  data: ListedRow[]
  next_cursor: string | null
}

export async function logs(t: Pick<TestGateway, 'fetch'>, query = ''): Promise<Page> {
  const response = await t.fetch(`/api/logs${query}`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`GET /api/logs${query}: ${response.status} ${text}`)
  return JSON.parse(text) as Page
}

export interface Detail extends Omit<ListedRow, 'attempts' | 'tokens'> {
  tokens: { prompt: number; completion: number; total: number }
  attempts: {
    latency_ms: number | null
    ttft_ms: number | null
    action: string | null
    status: number | null
    error: { code: string | null; message: string } | null
  }[]
  request_body: string | null
  response_body: string | null
  request_truncated: boolean
  response_truncated: boolean
  error_message: string | null
}

export async function detail(t: Pick<TestGateway, 'fetch'>, requestId: string): Promise<Detail> {
  const response = await t.fetch(`/api/logs/${requestId}`)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`GET /api/logs/${requestId}: ${response.status} ${text}`)
  return JSON.parse(text) as Detail
}

export function ask(model = 'chat/m', more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model, messages: [{ role: 'user', content: 'Hi' }], ...more }
}

/** Returns a value of /metrics by the prefix of its line. */
export async function metric(t: Pick<TestGateway, 'fetch'>, name: string): Promise<number | null> {
  const text = await (await t.fetch('/metrics')).text()
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `) || candidate.startsWith(`${name}{`))
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(' ') + 1))
}
