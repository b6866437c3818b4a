// A gateway with usage rows of one's own making.
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Db } from '../../../core/types/ports/db.ts'
import type { UsageRow } from '../../../plugins/ledger/service.ts'
import { insertRows } from '../../../plugins/ledger/usage-rows.ts'

export interface UsageSite {
  readonly t: TestGateway
  readonly db: Db
  insert(rows: readonly UsageRow[]): Promise<void>
  get<T>(path: string): Promise<{ status: number; body: T }>
  text(path: string, headers?: Record<string, string>): Promise<Response>
}

export async function usageSite(options: TestGatewayOptions = {}): Promise<UsageSite> {
  let db: Db | undefined
  const reader = definePlugin({
    name: 'test-reader',
    setup(gateway) {
      db = gateway.db
    },
  })
  const t = await createTestGateway({ ...options, plugins: [reader()] })
  return {
    t,
    db: db as unknown as Db,
    async insert(rows) {
      for (let at = 0; at < rows.length; at += 200) await (db as unknown as Db).run(insertRows(rows.slice(at, at + 200)).sql)
    },
    async get<T>(path: string) {
      const response = await t.fetch(path)
      return { status: response.status, body: (await response.json()) as T }
    },
    text: (path, headers = {}) => t.fetch(path, { headers }),
  }
}

let made = 0

/** A request of 10 + 5 tokens for 1,000 nano. */
export function row(of: Partial<UsageRow> & { at: number }): UsageRow {
  return {
    requestId: `req_${String(++made).padStart(8, '0')}`,
    step: 0,
    orgId: null,
    keyId: 1,
    keyLabel: 'k',
    userId: null,
    sessionId: null,
    costCenter: null,
    source: 'api',
    operation: 'chat',
    provider: 'p',
    connectionId: '1',
    model: 'm',
    requestedModel: 'p/m',
    virtualModel: null,
    stream: false,
    status: 200,
    latencyMs: 100,
    firstByteMs: 50,
    tokens: { input: 10, cacheRead: 1, cacheWrite: 2, output: 5, reasoning: 3 },
    mediaUnits: 0,
    estimated: false,
    costNano: 1000,
    chargeNano: 1000,
    priceRef: 'x',
    cached: null,
    freePool: false,
    interrupted: false,
    ...of,
  }
}
