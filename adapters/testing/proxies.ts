// Minimal outbound proxies: HTTP CONNECT and SOCKS5, with or without a password. They record their tunnels.
import { createServer } from 'node:http'
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { listening } from './network-faults.ts'

export interface TestProxy {
  readonly port: number
  /** `host:port` of every requested tunnel. */
  readonly tunnels: string[]
  close(): Promise<void>
}

export interface ProxyOptions {
  /** `user:password`; any other credentials are refused. */
  credentials?: string
  /** Answers every tunnel request with this status or SOCKS5 reply code. */
  refuse?: number
}

export async function connectProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  const tunnels: string[] = []
  const expected = options.credentials && `Basic ${Buffer.from(options.credentials).toString('base64')}`
  const server = createServer((_req, res) => res.writeHead(501).end())
  server.on('connect', (req, socket: Socket) => {
    socket.on('error', () => {})
    tunnels.push(req.url as string)
    if (options.refuse !== undefined) return socket.end(`HTTP/1.1 ${options.refuse} Refused\r\n\r\n`)
    if (expected !== undefined && req.headers['proxy-authorization'] !== expected)
      return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n')
    const [host, port] = (req.url as string).split(':') as [string, string]
    tunnel(socket, host, Number(port), () => socket.write('HTTP/1.1 200 Connection Established\r\n\r\n'))
  })
  return running(server, tunnels)
}

export async function socksProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  const tunnels: string[] = []
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    void negotiate(socket, options, tunnels).catch(() => socket.destroy())
  })
  return running(server, tunnels)
}

/** RFC 1928 and 1929, one message per read: sufficient on loopback. */
async function negotiate(socket: Socket, { credentials, refuse }: ProxyOptions, tunnels: string[]): Promise<void> {
  await message(socket)
  socket.write(Buffer.from([5, credentials === undefined ? 0 : 2]))
  if (credentials !== undefined) {
    const auth = await message(socket)
    const user = auth.subarray(2, 2 + auth[1]!)
    const password = auth.subarray(3 + user.length)
    const good = `${user}:${password}` === credentials
    socket.write(Buffer.from([1, good ? 0 : 1]))
    if (!good) return void socket.end()
  }
  const request = await message(socket)
  const named = request[3] === 3
  const host = named ? request.subarray(5, 5 + request[4]!).toString() : [...request.subarray(4, 8)].join('.')
  const port = request.readUInt16BE(named ? 5 + request[4]! : 8)
  tunnels.push(`${host}:${port}`)
  const answer = (code: number) => socket.write(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
  if (refuse !== undefined) {
    answer(refuse)
    return void socket.end()
  }
  tunnel(socket, host, port, () => answer(0))
}

function message(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once('data', resolve)
    socket.once('close', reject)
  })
}

function tunnel(socket: Socket, host: string, port: number, opened: () => void): void {
  const upstream = connect(port, host, () => {
    opened()
    socket.pipe(upstream)
    upstream.pipe(socket)
  })
  upstream.on('error', () => socket.destroy())
  socket.on('close', () => upstream.destroy())
  upstream.on('close', () => socket.destroy())
}

async function running(server: Server, tunnels: string[]): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return {
    port: await listening(server),
    tunnels,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
