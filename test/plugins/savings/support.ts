// A gateway with given prices and a savings ledger, and receipts built by hand.
import { createHash } from 'node:crypto'
import { type FakeClock, fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin, PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import { preset } from '../../../plugins/preset.ts'
import type { Booked } from '../../../plugins/savings/receipt.ts'

export const NOW = Date.UTC(2026, 10, 21, 12)
export const HOUR = { DEDUP_TTL_MS: '3600000' }

/** USD for 1M tokens: 1,000 nano-USD per token each. */
export const PRICES = [
  { model: '*/cheap', input: 1, output: 4, cache_read: 0.1, cache_write: 1.25 },
  { model: '*/dear', input: 10, output: 40, cache_read: 1, cache_write: 12.5 },
]

export interface Receipt {
  seq: number
  source: string
  request_id: string
  usd_saved: number
  usd_saved_nano: number
  tokens_saved: number
  hash: string
  prev_hash: string
  [member: string]: unknown
}

export interface Totals {
  tokens_saved: number
  usd_saved: number
  receipts: number
  by_source: Record<string, { tokens_saved: number; usd_saved: number; receipts: number }>
}

export interface Site {
  readonly t: TestGateway
  readonly db: Db
  readonly inside: PluginGateway
  readonly clock: FakeClock
  /** Sends one chat request; it is answered, settled and committed. */
  ask(body?: object, headers?: Record<string, string>): Promise<number>
  get<T>(path: string, headers?: Record<string, string>): Promise<{ status: number; body: T }>
  text(path: string): Promise<string>
  receipts(query?: string): Promise<Receipt[]>
  totals(): Promise<Totals>
  api(method: string, path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }>
}

/** A header selects the organization of a control-plane caller. */
const organizations = definePlugin({
  name: 'test-organizations',
  setup(gateway) {
    gateway.provide('operators', {
      async identify(request) {
        const org = request.headers.get('x-org')
        const orgId = org === null ? null : Number(org)
        return { actor: 'test', orgId, role: orgId === null ? 'system' : 'member', readOnly: false, auth: 'open' }
      },
    })
  },
})

export async function site(options: TestGatewayOptions = {}): Promise<Site> {
  const clock = fakeClock(NOW)
  let inside: PluginGateway | undefined
  const reader = definePlugin({
    name: 'test-reader',
    setup(gateway) {
      inside = gateway as never
    },
  })
  const plugins: Plugin[] = [organizations(), ...preset()]
  const t = await createTestGateway({
    ...options,
    config: { ...options.config, plugins },
    plugins: [...(options.plugins ?? []), reader()],
    ports: { clock, ...options.ports },
  })
  const get = async <T>(path: string, headers: Record<string, string> = {}) => {
    const response = await t.fetch(path, { headers })
    return { status: response.status, body: (await response.json()) as T }
  }
  const api: Site['api'] = async (method, path, body) => {
    const response = await t.fetch(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const priced = await api('PUT', '/api/pricing/overrides', { data: PRICES })
  if (priced.status !== 200) throw new Error(JSON.stringify(priced))
  return {
    t,
    clock,
    get,
    api,
    inside: inside as unknown as PluginGateway,
    db: (inside as unknown as PluginGateway).db,
    async ask(body = {}, headers = {}) {
      const settled = t.settled.length
      const messages = [{ role: 'user', content: 'What is a heron?' }]
      const response = await t.post('/v1/chat/completions', { model: 'chat/cheap', messages, ...body }, headers)
      await response.arrayBuffer()
      await t.untilSettled(settled + 1)
      await written()
      return response.status
    },
    text: async (path) => (await t.fetch(path)).text(),
    receipts: async (query = '') => (await get<{ data: Receipt[] }>(`/api/savings${query}`)).body.data,
    async totals() {
      // Windows end before now.
      await clock.advance(1)
      return (await get<Totals>('/api/savings/totals')).body
    },
  }
}

/** Settlements are committed in the turns after the answer. */
export async function written(): Promise<void> {
  for (let turn = 0; turn < 25; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns an answer with this usage. */
export const used = (usage: { input: number; output: number; cacheRead?: number; cacheWrite?: number }): Step =>
  reply({ text: 'A bird.', usage })

let made = 0

export function booked(of: Partial<Booked> = {}): Booked {
  return {
    request_id: `req_${String(++made).padStart(8, '0')}`,
    source: 'exact_cache',
    org_id: 0,
    at: NOW,
    provider: 'p',
    model: 'm',
    key_id: 1,
    virtual_model: null,
    cost_center: null,
    user_id: null,
    usage_source: 'api',
    tokens_before: 15,
    tokens_after: 0,
    tokens_saved: 15,
    usd_saved_nano: 1000,
    method: 'measured',
    details: '{}',
    price_ref: null,
    ...of,
  }
}

/** Verifies exported lines without the gateway's code: returns the first line whose hash is wrong, or that does not follow. */
export function firstWrong(lines: readonly string[], before = '0'.repeat(64)): number | null {
  let previous = before
  for (const line of lines) {
    const { hash, ...row } = JSON.parse(line) as Receipt
    const expected = createHash('sha256')
      .update(`${previous}\n${canonical(row)}`)
      .digest('hex')
    if (row.prev_hash !== previous || hash !== expected) return row.seq as number
    previous = hash
  }
  return null
}

/** RFC 8785 for the values in receipts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`
}
