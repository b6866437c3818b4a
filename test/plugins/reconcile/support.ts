// Gateways over one data directory, started with one file and again with another; and the rows of each section.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { sql } from '../../../core/db/sql.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import { preset } from '../../../plugins/preset.ts'

export type Section = 'keys' | 'virtualModels' | 'budgets' | 'webhooks'

export const TABLES: Record<Section, string> = {
  keys: 'keys',
  virtualModels: 'virtual_models',
  budgets: 'budgets',
  webhooks: 'webhooks_endpoints',
}

type Seen = 'virtualModels' | 'budgets' | 'webhooks'

/** Passes the services of the serving generation to the test. */
export function witness() {
  const found: { [token in Seen]?: () => Services[token] | undefined } = {}
  const plugin = definePlugin({
    name: 'witness',
    setup(gateway) {
      for (const token of ['virtualModels', 'budgets', 'webhooks'] as const) found[token] = gateway.optional(token) as never
    },
  })
  return {
    plugin: plugin(),
    service<T extends Seen>(token: T): Services[T] {
      const service = found[token]?.()
      if (service === undefined) throw new Error(`Nobody provides ${token}.`)
      return service as Services[T]
    },
  }
}

export interface Deployment {
  readonly dir: string
  /** The environment for references of the file. */
  readonly env: Record<string, string>
  /** Stops the running gateway, then starts with this file. */
  start(config: GatewayConfig): Promise<TestGateway>
  /** Does the same without reconciliation. */
  startDry(config: GatewayConfig): Promise<HostedGateway>
  service: ReturnType<typeof witness>['service']
  /** Returns the active rows of a section. */
  living(section: Section): Promise<{ id: number; config_key: string | null; managed_by: string }[]>
  /** Returns every row, also archived ones. */
  rows(section: Section): Promise<Record<string, unknown>[]>
  end(): Promise<void>
}

export function deployment(): Deployment {
  const dir = mkdtempSync(join(tmpdir(), 'hookgate-file-'))
  const env: Record<string, string> = {
    GATEWAY_DATA_DIR: dir,
    GATEWAY_MASTER_KEY: randomBytes(32).toString('base64'),
  }
  let running: Pick<TestGateway, 'gateway' | 'close'> | null = null
  let seen = witness()
  const whole = (config: GatewayConfig): GatewayConfig => ({ connections: { echo: { provider: 'echo' } }, ...config })
  const stop = async () => {
    await running?.close()
    running = null
    seen = witness()
  }
  const all = async (section: Section) => {
    const db = running?.gateway.db
    if (!db) throw new Error('Nothing runs.')
    return db.all(sql`SELECT * FROM ${sql.id(TABLES[section])} ORDER BY id`)
  }
  return {
    dir,
    env,
    async start(config) {
      await stop()
      const t = await createTestGateway({ config: whole(config), plugins: [seen.plugin], ports: { env } })
      running = t
      return t
    },
    async startDry(config) {
      await stop()
      const plugins = [...preset(), seen.plugin]
      const gateway = await createGateway({ ...whole(config), plugins }, { env, log: silentLog }, { reconcile: false })
      running = { gateway, close: () => gateway.close() }
      return gateway
    },
    service: (token) => seen.service(token),
    living: async (section) => (await all(section)).filter((row) => row.archived_at === null) as never,
    rows: all,
    async end() {
      await stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

export const SECRET = 'client-secret-that-is-long-enough'

/** One entry of each section, and an edit of it that keeps its name. */
export const ENTRIES: { [S in Section]: { entry: object; edited: object; renamed: object; name: string } } = {
  keys: {
    name: 'ci',
    entry: { label: 'ci', secret: SECRET, rateLimitRpm: 5 },
    edited: { label: 'ci', secret: SECRET, rateLimitRpm: 7 },
    renamed: { label: 'cd', secret: SECRET, rateLimitRpm: 5 },
  },
  virtualModels: {
    name: 'fast',
    entry: { name: 'fast', strategy: 'failover', targets: ['echo/echo-1'] },
    edited: { name: 'fast', strategy: 'failover', targets: ['echo/echo-1', { target: 'echo/echo-2', weight: 0 }] },
    renamed: { name: 'faster', strategy: 'failover', targets: ['echo/echo-1'] },
  },
  budgets: {
    name: 'key ci monthly',
    entry: { scope: 'key', entity: 'ci', window: 'monthly', hardLimitUsd: 5 },
    edited: { scope: 'key', entity: 'ci', window: 'monthly', hardLimitUsd: 7.5 },
    renamed: { scope: 'key', entity: 'ci', window: 'daily', hardLimitUsd: 5 },
  },
  webhooks: {
    name: 'https://hooks.example.com/a',
    entry: { url: 'https://hooks.example.com/a' },
    edited: { url: 'https://hooks.example.com/a', eventTypes: ['budget.crossed'], format: 'slack' },
    renamed: { url: 'https://hooks.example.com/b' },
  },
}
