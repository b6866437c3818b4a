// A fake vendor with a certificate of its own, and a client that trusts the CA of the proxy.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:tls'
import { type Authority, newAuthority } from '../../../plugins/interception/authority.ts'

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
