import { connectProxy, type ProxyOptions, type TestProxy } from '../../../adapters/testing/proxies.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { createTestGateway, type TestGateway, type TestGatewayOptions } from '../../../adapters/testing/test-gateway.ts'
import { preset } from '../../../plugins/preset.ts'
import { add, call } from '../connections/support.ts'
import { ask } from '../keys/support.ts'

export interface Pool {
  id: number
  proxy_url: string | null
  assigned_connections: number[]
  last_test: { ok: boolean; latency_ms: number; ip: string | null; at: string; error: string | null } | null
  [member: string]: unknown
}

export interface World extends TestGateway {
  proxy(options?: ProxyOptions): Promise<TestProxy>
}

/** A server that answers with the caller's address, for proxy tests. */
export async function world(options: TestGatewayOptions & { testUrl?: string } = {}): Promise<World> {
  const { testUrl, ...rest } = options
  const t = await createTestGateway({
    ...rest,
    config: { ...rest.config, plugins: preset(testUrl === undefined ? {} : { proxyPools: { testUrl } }) },
  })
  const proxies: TestProxy[] = []
  return {
    ...t,
    async proxy(proxyOptions) {
      const proxy = await connectProxy(proxyOptions)
      proxies.push(proxy)
      return proxy
    },
    async close() {
      await t.close()
      for (const proxy of proxies) await proxy.close()
    },
  }
}

export const addressOf = ({ port }: { port: number }, login = '') => `http://${login}127.0.0.1:${port}`

/** A connection of the provider `acme` to the scripted upstream. */
export function connection(t: World, more: Record<string, unknown> = {}): Promise<{ id: number }> {
  return add(t, { provider: 'acme', base_url: t.upstream.baseUrl('chat'), wire_format: 'chat', api_key: 'sk-acme-key', ...more })
}

export async function pool(t: World, body: Record<string, unknown>): Promise<Pool> {
  const response = await call(t, 'POST', '/api/proxy-pools', { name: 'exit', ...body })
  if (response.status !== 201) throw new Error(`POST /api/proxy-pools: ${response.status} ${await response.text()}`)
  return (await response.json()) as Pool
}

export const assign = (t: World, proxyId: number | null, connectionId: number) =>
  call(t, 'POST', '/api/proxy-pools/assign', { proxy_id: proxyId, connection_id: connectionId })

export const send = (t: World, model = 'acme/m') => t.post('/v1/chat/completions', ask(model))

export const answering = (body: string, status = 200) => scriptedUpstream({ kind: 'raw', status, body })
