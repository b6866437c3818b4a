// A gateway with shared connections, callers of several organizations (`x-org`), prices and a clock that can jump.
import { reply, type Step } from '../../../adapters/testing/script.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import type { GatewayConfig } from '../../../core/config/define.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Operator } from '../../../core/types/operator.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { LedgerService, UsageRow } from '../../../plugins/ledger/service.ts'
import { preset } from '../../../plugins/preset.ts'
import { NOON, type WallClock, wallClock } from '../budgets/support.ts'

/** USD per 1M tokens: 1,000 nano-USD for an input token, 10,000 for an output token. */
export const PRICE = { input: 1, output: 10 }

export interface PoolSite {
  readonly t: TestGateway
  readonly clock: WallClock
  readonly ledger: LedgerService
  readonly inside: PluginGateway
  /** Organizations whose callers have a verified address. */
  readonly verified: Set<number>
  /** Asks the pool for an answer; organization 0 is the gateway's own. */
  ask(org: number, body?: object, headers?: Record<string, string>): Promise<Response>
  /** Asks, reads the answer and waits until it is booked. Returns the status. */
  use(org: number, body?: object): Promise<number>
  api<T>(org: number, path: string, init?: { method: string; body: object }): Promise<T>
  /** Usage rows, oldest first. */
  rows(): Promise<UsageRow[]>
  /** Reserved tokens of all accounts. */
  reserved(): Promise<number>
}

export interface PoolOptions extends TestGatewayOptions {
  /** Names of connections that are shared; default: `chat` alone. */
  shared?: readonly string[]
  /** More of the shared connections. */
  connection?: object
}

/** The preset without its people: the test has its own. */
const strangers = () => preset().filter((plugin) => !('name' in plugin && plugin.name === 'organizations'))

const orgOf = (value: string | null): number | null => (value === null || value === '0' ? null : Number(value))

/** An answer of 60 + 40 tokens, unless other ones are given. */
export const answer = (input = 60, output = 40): Step => reply({ text: 'Hello.', usage: { input, output } })

export async function poolSite(options: PoolOptions = {}): Promise<PoolSite> {
  const { shared = ['chat'], connection = {}, ...rest } = options
  const clock = wallClock(NOON)
  const verified = new Set<number>()
  let inside: PluginGateway | undefined
  const people = definePlugin({
    name: 'test-people',
    setup(gateway) {
      gateway.provide('organizations', {
        emailVerified: (orgId: number | null) => orgId === null || verified.has(orgId),
      } as never)
      gateway.provide('operators', {
        async identify(request: Request): Promise<Operator> {
          const orgId = orgOf(request.headers.get('x-org'))
          return { actor: 'test', orgId, role: orgId === null ? 'system' : 'owner', readOnly: false, auth: 'token' }
        },
      } as never)
      gateway.hook(
        'authenticate',
        (ctx: RequestContext) => {
          const orgId = orgOf(ctx.headers.get('x-org'))
          return orgId === null ? undefined : { keyId: null, label: `key of ${orgId}`, orgId, allowedModels: null }
        },
        { order: 'pre' },
      )
    },
  })
  const ears = definePlugin({
    name: 'test-ears',
    requires: ['ledger'],
    setup(gateway) {
      inside = gateway as never
    },
  })
  const { scriptedUpstream } = await import('../../../adapters/testing/scripted-upstream.ts')
  const upstream = await scriptedUpstream(...(rest.upstream ?? [answer()]))
  const connections: GatewayConfig['connections'] = Object.fromEntries(
    (['chat', 'messages', 'responses', 'generate_content'] as const).map((dialect) => [
      dialect,
      {
        ...{
          provider: 'custom',
          baseUrl: upstream.baseUrl(dialect),
          wireFormat: dialect,
          apiKey: 'sk-upstream',
          defaultModel: 'm',
        },
        ...(shared.includes(dialect) ? { metadata: { free_pool: true }, ...connection } : {}),
      },
    ]),
  )
  const t = await createTestGateway({
    ...rest,
    config: { connections, ...rest.config, plugins: [people(), ...(rest.config?.plugins ?? strangers())] },
    plugins: [...(rest.plugins ?? []), ears()],
    ports: { clock, ...rest.ports },
  })
  const close = t.close.bind(t)
  Object.assign(t, { upstream, close: () => close().finally(() => upstream.close()) })
  const gateway = inside as unknown as PluginGateway
  const ledger = gateway.use('ledger')
  const ask: PoolSite['ask'] = (org, body = {}, headers = {}) =>
    t.post(
      '/v1/chat/completions',
      { model: 'gateway/free', messages: [{ role: 'user', content: 'hi' }], max_tokens: 40, ...body },
      { 'x-org': String(org), ...headers },
    )
  const api: PoolSite['api'] = async (org, path, init) => {
    const headers = { 'x-org': String(org), 'content-type': 'application/json' }
    const response = await t.fetch(path, { ...(init ? { method: init.method, body: JSON.stringify(init.body) } : {}), headers })
    return (await response.json()) as never
  }
  const models = ['chat', 'messages', 'responses', 'generate_content'].map((id) => ({ model: `${id}/m`, ...PRICE }))
  await api(0, '/api/pricing/overrides', { method: 'PUT', body: { data: models } })
  return {
    t,
    clock,
    ledger,
    inside: gateway,
    verified,
    ask,
    api,
    async use(org, body) {
      const settled = t.settled.length
      const response = await ask(org, body)
      await response.arrayBuffer()
      await t.untilCommitted(settled + 1)
      return response.status
    },
    async rows() {
      await t.gateway.committed()
      const rows: UsageRow[] = []
      await ledger.usage.newest({ since: 0, until: Number.MAX_SAFE_INTEGER }, 1000, (row) => void rows.push(row))
      return rows.sort((a, b) => a.at - b.at || a.requestId.localeCompare(b.requestId) || a.step - b.step)
    },
    async reserved() {
      await t.gateway.committed()
      const balances = await ledger.balancesOf(gateway.db, 'free-pool:', 0)
      return balances.reduce((sum, { reservedNano }) => sum + reservedNano, 0)
    },
  }
}
