// Facts from an embedding server: current headers, a context for plugins, a prefix, and parts that it does not serve.
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { type NodeHandlerOptions, toNodeHandler } from '../../../adapters/node/server/node-handler.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { FetchOptions } from '../../../core/types/gateway.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { preset } from '../../../plugins/preset.ts'
import { ask } from '../node/support.ts'

declare module '../../../core/types/request/host.ts' {
  interface HostContext {
    user?: { name: string }
  }
}

let gateway: HostedGateway
let server: Server | null = null
afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  server = null
  await gateway.close()
})

/** Answers with the facts of each request. */
const mirror = definePlugin({
  name: 'mirror',
  setup(on) {
    on.hook('access', (ctx) => {
      ctx.responseHeaders.set('x-seen-role', ctx.headers.get('x-role') ?? 'none')
      ctx.responseHeaders.set('x-seen-user', ctx.host?.user?.name ?? 'none')
    })
  },
})

async function embedded(log: Logger = silentLog, options: Record<string, boolean> = {}): Promise<void> {
  gateway = await createGateway(
    { connections: { echo: { provider: 'echo' } }, plugins: [...preset(), mirror()], options },
    { log },
  )
}

async function hosted(options: NodeHandlerOptions, before: (req: IncomingMessage) => void = () => {}): Promise<string> {
  const listener = toNodeHandler(gateway, options)
  server = createServer((req, res) => {
    before(req)
    listener(req, res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const { path, body } = ask('chat', 'echo/echo-1')
const post = (base: string, headers: Record<string, string> = {}) =>
  fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) })
const inProcess = (options: FetchOptions = {}, prefix = '') =>
  gateway.fetch(new Request(`http://host.test${prefix}${path}`, { method: 'POST', body: JSON.stringify(body) }), options)
const seen = (response: Response) => [response.status, response.headers.get('x-seen-role'), response.headers.get('x-seen-user')]

describe('headers', () => {
  it('a header that a middleware removed does not arrive, and one that it set does', async () => {
    await embedded()
    const base = await hosted({}, (req) => {
      if (req.headers['x-role'] === 'admin') delete req.headers['x-role']
      else req.headers['x-role'] = 'set by the host'
    })
    expect(seen(await post(base, { 'x-role': 'admin' }))).toEqual([200, 'none', 'none'])
    expect(seen(await post(base))).toEqual([200, 'set by the host', 'none'])
  })

  it('the control plane sees the same headers', async () => {
    await embedded()
    const base = await hosted({ peer: () => ({ address: null, local: true, secure: true }) }, (req) => {
      delete req.headers.authorization
    })
    // The host removed the wrong token, which the gateway would refuse.
    expect((await fetch(`${base}/api/keys`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(200)
  })

  it('`headers` says which ones count', async () => {
    await embedded()
    const base = await hosted({ headers: ({ headers }) => ({ ...headers, 'X-Role': 'chosen' }) })
    expect(seen(await post(base, { 'x-other': '1' }))).toEqual([200, 'chosen', 'none'])
  })

  it('a credential that was sent twice is still refused', async () => {
    await embedded()
    const base = new URL(await hosted({}))
    for (const target of [path, '/api/keys']) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = ['host', base.host, 'authorization', 'Bearer a', 'authorization', 'Bearer b', 'content-length', '2']
        const sent = httpRequest({ host: base.hostname, port: base.port, path: target, method: 'POST', headers }, (answer) => {
          answer.resume()
          resolve(answer.statusCode)
        })
        sent.on('error', reject)
        sent.end('{}')
      })
      expect(status, target).toBe(400)
    }
  })
})

describe('context', () => {
  it('reaches plugins as `ctx.host`, from both kinds of host', async () => {
    await embedded()
    const base = await hosted({ context: (req) => ({ user: { name: String(req.headers['x-user']) } }) })
    expect(seen(await post(base, { 'x-user': 'ada' }))).toEqual([200, 'none', 'ada'])
    expect(seen(await inProcess({ context: { user: { name: 'grace' } } }))).toEqual([200, 'none', 'grace'])
    expect(seen(await inProcess())).toEqual([200, 'none', 'none'])
  })
})

describe('prefix', () => {
  it.each(['/llm', 'llm', '/llm/'])('%s is removed by gateway.fetch, in both planes', async (prefix) => {
    await embedded()
    expect((await inProcess({ prefix }, '/llm')).status).toBe(200)
    expect((await inProcess({ prefix })).status).toBe(200)
    const health = (at: string) => gateway.fetch(new Request(`http://host.test${at}`), { prefix })
    expect((await health('/llm/healthz')).status).toBe(200)
    expect((await health('/llm/health/readiness?x=1')).status).toBe(200)
    expect((await health('/llmx/healthz')).status).toBe(404)
  })
})

describe('serve', () => {
  const PARTS = [
    ['metrics', '/metrics'],
    ['health', '/healthz'],
    ['health', '/health/readiness'],
    ['api', '/api/keys'],
  ] as const

  it.each(PARTS)('without %s, %s is 404 and the rest is served', async (part, gone) => {
    await embedded()
    const local = { address: null, local: true, secure: true } as const
    const base = await hosted({ serve: { [part]: false }, peer: () => local })
    for (const [, each] of PARTS) {
      const expected = each === gone || PARTS.some(([of, at]) => of === part && at === each) ? 404 : 200
      expect((await fetch(base + each)).status, each).toBe(expected)
      const answer = await gateway.fetch(new Request(`http://host.test${each}`), { ...local, serve: { [part]: false } })
      expect(answer.status, each).toBe(expected)
      if (expected === 404) expect(((await answer.json()) as { error: { code: string } }).error.code).toBe('unknown_url')
    }
    expect((await post(base)).status).toBe(200)
  })
})

describe('anonymous calls from elsewhere', () => {
  const warnings = (lines: { message: string; fields: object | undefined }[]) =>
    lines.filter(({ message }) => message === 'serve.anonymous_calls')
  const recording = () => {
    const lines: { message: string; fields: object | undefined }[] = []
    return { lines, log: { ...silentLog, warn: (message: string, fields?: object) => void lines.push({ message, fields }) } }
  }

  it('are warned of once, with the setting', async () => {
    const { lines, log } = recording()
    await embedded(log)
    for (const address of [null, '192.0.2.7', '192.0.2.8']) await inProcess({ address })
    expect(warnings(lines)).toEqual([
      {
        message: 'serve.anonymous_calls',
        fields: { address: '192.0.2.7', hint: expect.stringContaining('GATEWAY_REQUIRE_API_KEY') },
      },
    ])
  })

  it('are not warned of when the host says who is local, for loopback, or when a key is required', async () => {
    const { lines, log } = recording()
    await embedded(log)
    await inProcess({ local: true, address: '192.0.2.7' })
    await inProcess({ local: false, address: '192.0.2.7' })
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', null]) await inProcess({ address })
    await gateway.close()
    await embedded(log, { requireApiKey: true })
    expect((await inProcess({ address: '192.0.2.7' })).status).toBe(401)
    expect(warnings(lines)).toEqual([])
  })
})
