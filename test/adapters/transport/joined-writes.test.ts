// The pieces in which requests leave, and their bytes at the upstream.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { joinWrites } from '../../../adapters/transport/joined-writes.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { call } from './support.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0)) await close()
})

/** An upstream that collects bodies. */
async function upstream() {
  const bodies: Buffer[] = []
  const server = createServer(async (req, res) => {
    const parts: Buffer[] = []
    for await (const part of req) parts.push(part as Buffer)
    bodies.push(Buffer.concat(parts))
    res.end('ok')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { bodies, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

/** The pieces of each write that a client's socket passes to its handle. */
function watchWrites(): number[] {
  const pieces: number[] = []
  const { _write, _writev } = Socket.prototype
  const isClient = (socket: Socket) => !('server' in socket && socket.server)
  vi.spyOn(Socket.prototype, '_write').mockImplementation(function (this: Socket, ...args) {
    if (isClient(this)) pieces.push(1)
    return _write.apply(this, args)
  })
  vi.spyOn(Socket.prototype, '_writev').mockImplementation(function (this: Socket, chunks, done) {
    if (isClient(this)) pieces.push(chunks.length)
    return _writev?.call(this, chunks, done)
  })
  return pieces
}

const BYTES = Buffer.from('{"text":"grüß 🦊"}\u0000')

describe('a request to an upstream', () => {
  it.each([
    ['small', BYTES, 1],
    ['of invalid UTF-8', Buffer.from([0x7b, 0xff, 0xc3, 0x28, 0x00]), 1],
    ['large', Buffer.alloc(100_000, 'ü'), 2],
  ])('with a body that is %s arrives unchanged', async (_what, body, count) => {
    const { url, bodies } = await upstream()
    const transport = undiciTransport()
    closing.push(() => transport.close())
    const pieces = watchWrites()
    for (let i = 0; i < 2; i++) expect((await call(transport, url, { body: [body] })).status).toBe(200)
    expect(bodies.map((received) => received.equals(body))).toEqual([true, true])
    // The first write of a connection waits until it is open.
    expect(pieces).toEqual([count, count])
  })

  it('of several pieces arrives in their order', async () => {
    const { url, bodies } = await upstream()
    const transport = undiciTransport()
    closing.push(() => transport.close())
    const body = [Buffer.alloc(300_000, 'a'), Buffer.from('b'), Buffer.alloc(9000, 'c')]
    await call(transport, url, { body })
    expect(bodies[0]?.equals(Buffer.concat(body))).toBe(true)
  })

  it('without a body is sent', async () => {
    const { url, bodies } = await upstream()
    const transport = undiciTransport()
    closing.push(() => transport.close())
    expect((await call(transport, url, { method: 'GET', body: null })).status).toBe(200)
    expect(bodies[0]?.length).toBe(0)
  })
})

describe('joined writes', () => {
  function recorded() {
    const socket = new Socket()
    const seen: [unknown, unknown][] = []
    socket.write = ((chunk: unknown, encoding: unknown) => seen.push([chunk, encoding]) > 0) as Socket['write']
    joinWrites(socket)
    return { socket, seen }
  }

  it('sends a head alone when the socket is uncorked', () => {
    const { socket, seen } = recorded()
    socket.cork()
    socket.write('head', 'latin1')
    expect(seen).toEqual([])
    socket.uncork()
    expect(seen).toEqual([['head', 'latin1']])
    expect(socket.writableCorked).toBe(0)
  })

  it('sends text that is not corked at once', () => {
    const { socket, seen } = recorded()
    socket.write('head', 'latin1')
    expect(seen).toEqual([['head', 'latin1']])
  })

  it('keeps the order of text after text', () => {
    const { socket, seen } = recorded()
    socket.cork()
    socket.write('head', 'latin1')
    socket.write('5\r\n', 'latin1')
    socket.write(Buffer.from('hello'))
    socket.uncork()
    expect(seen.map(([chunk]) => String(chunk)).join('|')).toBe('head|5\r\n|hello')
  })
})
