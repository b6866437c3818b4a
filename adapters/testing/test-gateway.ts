// createTestGateway: a gateway over a scripted upstream, with everything one wants to look at afterwards.
import type { GatewayConfig } from '../../core/config/define.ts'
import type { HostedGateway } from '../../core/gateway.ts'
import { silentLog } from '../../core/lib/log.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { Dialect } from '../../core/types/canonical.ts'
import type { Outcome, RequestContext } from '../../core/types/context.ts'
import type { Ports } from '../../core/types/gateway.ts'
import type { Plugin } from '../../core/types/plugin.ts'
import { preset } from '../../plugins/preset.ts'
import { createGateway } from '../node/gateway.ts'
import { type RunningServer, serve } from '../node/serve.ts'
import type { Step } from './script.ts'
import { type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'

export interface TestGatewayOptions {
  /** Behind the preset. */
  plugins?: Plugin[]
  /** Instead of one scripted upstream under the providers `chat`, `messages`, `responses`, `generate_content`. */
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
  /** Calls without a socket; the peer counts as local. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** POST of a JSON body. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Resolves when `count` requests have settled. */
  untilSettled(count?: number): Promise<void>
  /** A listening server on a free port, started on first use. */
  listen(): Promise<RunningServer>
  close(): Promise<void>
}

const DIALECTS: readonly Dialect[] = ['chat', 'messages', 'responses', 'generate_content']

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
  const env = Object.fromEntries(Object.entries(options.env ?? {}).map(([name, value]) => [`GATEWAY_${name}`, value]))
  const gateway = await createGateway(config, { log: silentLog, env, ...options.ports }, { strict: true })
  let server: RunningServer | null = null
  const local = { address: '127.0.0.1', local: true, secure: false }
  const fetch = (path: string, init?: RequestInit): Promise<Response> =>
    gateway.fetch(new Request(`http://gateway.test${path}`, init), local)
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
    async untilSettled(count = 1) {
      const until = performance.now() + 5000
      while (settled.length < count) {
        if (performance.now() > until) throw new Error(`${settled.length} of ${count} requests settled in 5 s.`)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    async listen() {
      server ??= await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 1000 })
      return server
    },
    async close() {
      if (server !== null) await server.close()
      else await gateway.close()
      await upstream.close()
    },
  }
}
