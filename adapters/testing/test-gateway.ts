// createTestGateway: a gateway over a scripted upstream, with members to inspect the results.
import type { GatewayConfig } from '../../core/config/define.ts'
import { sql } from '../../core/db/sql.ts'
import type { HostedGateway } from '../../core/gateway.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Ports } from '../../core/types/gateway.ts'
import type { Plugin } from '../../core/types/plugin/plugin.ts'
import type { Database } from '../../core/types/ports/db.ts'
import type { BuiltInDialect } from '../../core/types/request/canonical.ts'
import type { Outcome, RequestContext } from '../../core/types/request/context.ts'
import { preset } from '../../plugins/preset.ts'
import { createGateway } from '../node/gateway.ts'
import { type RunningServer, serve } from '../node/server/serve.ts'
import { openDatabase } from '../stores/open-database.ts'
import type { Step } from './script.ts'
import { type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'
import { testLog } from './test-log.ts'

export interface TestGatewayOptions {
  /** Listed after the preset. */
  plugins?: Plugin[]
  /** Replaces the one scripted upstream under the providers `chat`, `messages`, `responses`, `generate_content`. */
  config?: GatewayConfig
  upstream?: Step[]
  /** GATEWAY_* without the prefix. */
  env?: Record<string, string>
  ports?: Partial<Ports>
}

export interface TestGateway {
  readonly gateway: HostedGateway
  readonly upstream: ScriptedUpstream
  /** Every settled request, in order. */
  readonly settled: { ctx: RequestContext; outcome: Outcome }[]
  /** Calls the gateway without a socket; the peer counts as local. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Sends a POST with a JSON body. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Resolves when `count` requests have settled. */
  untilSettled(count?: number): Promise<void>
  /** Resolves when they have settled and their writes are in the database. */
  untilCommitted(count?: number): Promise<void>
  /** Returns a listening server on a free port, started on first use. */
  listen(): Promise<RunningServer>
  close(): Promise<void>
}

const DIALECTS: readonly BuiltInDialect[] = ['chat', 'messages', 'responses', 'generate_content']

/** Describes open reservations and requests; an empty list when the gateway has no ledger. */
async function unsettled(db: Database): Promise<string[]> {
  const tables = await db.all<{ name: string }>(sql`SELECT name FROM sqlite_master WHERE name = 'ledger_dispatch'`)
  if (tables.length === 0) return []
  const held = await db.all<{ account: string; reserved_nano: number }>(
    sql`SELECT account, reserved_nano FROM ledger_accounts WHERE reserved_nano <> 0`,
  )
  const open = await db.all<{ request_id: string }>(sql`SELECT request_id FROM ledger_dispatch WHERE swept_at IS NULL
    UNION ALL SELECT r.value ->> 0 AS request_id FROM ledger_traces t, json_each(t.requests) r
      WHERE NOT EXISTS (SELECT 1 FROM ledger_usage WHERE request_id = r.value ->> 0) AND instr(t.ended, r.value ->> 0) = 0`)
  return [
    ...held.map(({ account, reserved_nano }) => `${account} keeps ${reserved_nano} nano-USD back`),
    ...open.map(({ request_id }) => `${request_id} was admitted and never settled`),
  ]
}

/** Model strings are `<dialect>/<any model>`: `chat/m` reaches the upstream in chat, `messages/m` in messages … */
export async function createTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const upstream = await scriptedUpstream(...(options.upstream ?? []))
  const settled: TestGateway['settled'] = []
  const recorder = definePlugin({
    name: 'test-recorder',
    setup(gateway) {
      gateway.hook('settled', (ctx, outcome) => void settled.push({ ctx, outcome }), { order: 'post' })
    },
  })
  const config: GatewayConfig = {
    connections: Object.fromEntries(
      DIALECTS.map((dialect) => [
        dialect,
        { provider: 'custom', baseUrl: upstream.baseUrl(dialect), wireFormat: dialect, apiKey: 'sk-upstream' },
      ]),
    ),
    ...options.config,
    plugins: [...(options.config?.plugins ?? preset()), ...(options.plugins ?? []), recorder()],
  }
  // Tests make no outbound calls, and a busy test machine is no overload.
  const calm = options.config?.options?.overloadLoopDelayMs === undefined ? { OVERLOAD_LOOP_DELAY_MS: '0' } : {}
  const variables = { PRICING_SYNC_ENABLED: 'false', ...calm, ...options.env }
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [`GATEWAY_${name}`, value]))
  // Notifications of a test gateway are not sent.
  const outboundPost = async () => ({ status: 204 })
  const named = { ...env, ...options.ports?.env, ...options.config?.options }
  const keeps = ['GATEWAY_DATABASE_URL', 'DATABASE_URL', 'GATEWAY_DATA_DIR', 'databaseUrl', 'dataDir'].some(
    (name) => name in named,
  )
  const inMemory = options.ports?.db === undefined && !keeps
  const db = inMemory ? await openDatabase('sqlite::memory:', '.') : null
  const ports = { log: testLog(), env, outboundPost, ...(db && { db }), ...options.ports }
  const gateway = await createGateway(config, ports, { strict: true }).catch(async (error: unknown) => {
    await db?.close()
    throw error
  })
  let server: RunningServer | null = null
  let closed = false
  const local = { address: '127.0.0.1', local: true, secure: false }
  const fetch = (path: string, init?: RequestInit): Promise<Response> =>
    gateway.fetch(new Request(`http://gateway.test${path}`, init), local)
  const untilSettled = async (count = 1): Promise<void> => {
    const until = performance.now() + 15_000
    while (settled.length < count) {
      if (performance.now() > until) throw new Error(`${settled.length} of ${count} requests settled in 15 s.`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return {
    gateway,
    upstream,
    settled,
    fetch,
    post: (path, body, headers = {}) =>
      fetch(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    untilSettled,
    async untilCommitted(count) {
      await untilSettled(count)
      await gateway.committed()
    },
    async listen() {
      server ??= await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 1000 })
      return server
    },
    async close() {
      if (closed) return
      closed = true
      if (server !== null) await server.close()
      else await gateway.close()
      await upstream.close()
      if (db === null) return
      const open = await unsettled(db)
      await db.close()
      if (open.length > 0) throw new Error(`The books are not closed: ${open.join(', ')}`)
    },
  }
}
