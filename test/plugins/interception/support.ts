// A gateway that intercepts a fake vendor with a certificate of its own, and a client that trusts the CA of the proxy.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { createTestGateway, type TestGateway, text } from '../../../adapters/testing/index.ts'
import { type Authority, newAuthority } from '../../../plugins/interception/authority.ts'
import { preset } from '../../../plugins/preset.ts'
import { folder } from '../../adapters/cli/hookgate.ts'

export const HOST = 'api.vendor.test'

export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export interface FakeHost {
  readonly ca: string
  readonly address: string
  readonly received: Received[]
  close(): void
}

/** The answer of the fake host: its own spelling of headers, repeated ones, and bytes that are no text. */
export const ANSWER = {
  status: 207,
  message: 'Multi-Ish',
  headers: [
    'X-Vendor',
    'one',
    'x-VENDOR',
    'two',
    'Set-Cookie',
    'a=1',
    'Set-Cookie',
    'b=2',
    'Content-Type',
    'application/octet-stream',
  ],
  body: Buffer.from([0, 255, 13, 10, 128, 7]),
}

export async function fakeHost(folder: string): Promise<FakeHost> {
  const authority: Authority = await newAuthority(folder, [HOST], () => Date.now())
  const received: Received[] = []
  const server: Server = createServer(await authority.leaf(HOST), async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.rawHeaders, body: Buffer.concat(chunks) })
    res.sendDate = false
    res.writeHead(ANSWER.status, ANSWER.message, ANSWER.headers as never)
    res.end(ANSWER.body)
  })
  server.on('upgrade', (req, socket) => {
    received.push({ method: req.method ?? '', url: req.url ?? '', headers: req.rawHeaders, body: Buffer.alloc(0) })
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    ca: authority.pem,
    address: `127.0.0.1:${port}`,
    received,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sends bytes through the proxy; resolves with all that came back when the other side closed, or `until` matches. */
export function overTls(
  port: number,
  ca: string,
  bytes: string | Buffer,
  { servername = HOST, until = /$^/ } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const identity = servername === '' ? { checkServerIdentity: () => undefined } : {}
    const socket = connect({ host: '127.0.0.1', port, servername, ca, ...identity })
    const done = (): void => {
      socket.destroy()
      resolve(Buffer.concat(chunks))
    }
    socket.once('secureConnect', () => socket.write(bytes))
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (until.test(Buffer.concat(chunks).toString('latin1'))) done()
    })
    socket.on('error', reject)
    socket.on('close', done)
  })
}

export const HOSTS = '127.0.0.1 localhost\n10.0.0.1 intranet # ours\n'

export interface Made {
  readonly t: TestGateway
  readonly dataDir: string
  readonly hostsFile: string
  readonly trust: string
}

/** Makes a gateway that intercepts the fake host; its hosts file and trust store are the test's. */
export async function intercepting(
  vendor: FakeHost,
  options: object,
  env: Record<string, string> = {},
  places: Partial<Made> = {},
): Promise<Made> {
  const trust = places.trust ?? folder({})
  const data = places.dataDir ?? folder({})
  const file = places.hostsFile ?? join(folder({ hosts: HOSTS }), 'hosts')
  const inference = [{ path: '/v1/chat/completions' }, { path: '/private/gen/*', to: '/v1beta/models/*' }]
  const hosts = [{ host: HOST, tool: 'ide', inference, address: vendor.address, ca: vendor.ca }]
  const trustStore = { folder: trust, update: ['true'] }
  const made = await createTestGateway({
    config: { plugins: preset({ interception: { hosts, hostsFile: file, trustStore, port: 0, ...options } }) },
    env: { DATA_DIR: data, ...env },
    upstream: Array.from({ length: 40 }, () => text('From the gateway.')),
  })
  return { t: made, dataDir: data, hostsFile: file, trust }
}

export interface Body {
  readonly port: number
  readonly text: string
  readonly command: string | null
}

export async function call(
  of: TestGateway,
  method: string,
  route: string,
  body?: object,
): Promise<{ status: number; body: Body }> {
  const request = new Request(`http://gateway.test${route}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const operator = { actor: 'test', orgId: null, role: 'system', readOnly: false, auth: 'host' } as const
  const answer = await of.gateway.control.fetch(request, { address: null, local: false, secure: true, operator })
  const json = answer.headers.get('content-type')?.includes('json')
  return { status: answer.status, body: (json ? await answer.json() : { text: await answer.text() }) as never }
}
