// When the bytes of a socket leave, and that all of them do.
import { once } from 'node:events'
import { type Server, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { lateSocket, listening } from './late-sockets.ts'

let server: Server
beforeEach(async () => {
  server = await listening()
})
afterEach(() => {
  vi.restoreAllMocks()
  server.close()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A socket that writes late, and what its peer receives until its end. */
async function pair(): Promise<{ socket: Socket; received: Promise<Buffer> }> {
  const { socket, peer } = await lateSocket(server)
  const received = buffer(peer).finally(() => peer.destroy())
  received.catch(() => {})
  return { socket, received }
}

function watchWrites(): Socket[] {
  const writes: Socket[] = []
  for (const method of ['_write', '_writev'] as const) {
    const real = Socket.prototype[method] as (...args: unknown[]) => void
    vi.spyOn(Socket.prototype, method).mockImplementation(function (this: Socket, ...args: unknown[]) {
      writes.push(this)
      real.apply(this, args)
    })
  }
  return writes
}

it('the writes of one turn leave one after the other at its end', async () => {
  const writes = watchWrites()
  const pairs = []
  for (let i = 0; i < 5; i++) pairs.push(await pair())
  for (const { socket } of pairs) {
    socket.write('a')
    await Promise.resolve()
  }
  expect(writes).toEqual([])
  await turn()
  expect(writes).toEqual(pairs.map(({ socket }) => socket))
  for (const { socket } of pairs) socket.end('b')
  for (const { received } of pairs) expect(String(await received)).toBe('ab')
})

it('what follows in the same turn leaves with the first piece, without another turn', async () => {
  const writes = watchWrites()
  const { socket, received } = await pair()
  for (const piece of ['a', 'b', 'c']) socket.write(piece)
  await turn()
  expect(writes).toHaveLength(2)
  expect(socket.writableLength).toBe(0)
  socket.end()
  expect(String(await received)).toBe('abc')
})

it('a turn that takes long does not keep its writes until its end', async () => {
  const writes = watchWrites()
  const first = await pair()
  const second = await pair()
  first.socket.write('a')
  const until = performance.now() + 6
  while (performance.now() < until);
  expect(writes).toEqual([])
  second.socket.write('b')
  expect(writes).toEqual([first.socket, second.socket])
  for (const { socket } of [first, second]) socket.end()
  expect(String(await first.received)).toBe('a')
  expect(String(await second.received)).toBe('b')
})

it('an empty piece is no write, and its callback comes after the bytes before it', async () => {
  const writes = watchWrites()
  const { socket, received } = await pair()
  socket.write('a')
  await new Promise((resolve) => socket.write('', resolve))
  expect(writes).toHaveLength(1)
  socket.end()
  expect(String(await received)).toBe('a')
})

it('bytes written before `destroy` in the same turn arrive', async () => {
  const { socket, received } = await pair()
  socket.write('last words')
  socket.destroy()
  expect(String(await received)).toBe('last words')
  expect(socket.destroyed).toBe(true)
})

it('a full buffer drains', async () => {
  const { socket, received } = await pair()
  const large = Buffer.alloc(5_000_000, 'x')
  expect(socket.write(large)).toBe(false)
  await once(socket, 'drain')
  socket.end()
  expect((await received).equals(large)).toBe(true)
})

it('a write to a peer that is gone ends the socket', async () => {
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const { socket } = await pair()
  const failed = once(socket, 'error')
  const [peer] = await accepted
  peer.resetAndDestroy()
  socket.write('to nobody')
  await failed
  expect(socket.destroyed).toBe(true)
})

const text = fc.string({ unit: 'grapheme', maxLength: 200 })
const step = fc.oneof(
  fc.record({ write: text, encoding: fc.constantFrom('utf8' as const, 'latin1' as const) }),
  fc.record({ write: fc.uint8Array({ maxLength: 40_000 }) }),
  fc.constantFrom('cork' as const, 'uncork' as const, 'turn' as const, 'microtask' as const),
)

it('any order of writes, corks and turns keeps every byte in its place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.boolean(), async (steps, destroyed) => {
      const { socket, received } = await pair()
      const sent: Buffer[] = []
      for (const each of steps) {
        if (each === 'turn') await turn()
        else if (each === 'microtask') await Promise.resolve()
        else if (typeof each === 'string') socket[each]()
        else if ('encoding' in each) {
          socket.write(each.write, each.encoding)
          sent.push(Buffer.from(each.write, each.encoding))
        } else {
          socket.write(each.write)
          sent.push(Buffer.from(each.write))
        }
      }
      while (socket.writableCorked > 0) socket.uncork()
      if (destroyed) socket.destroySoon()
      else socket.end()
      expect((await received).equals(Buffer.concat(sent))).toBe(true)
    }),
    { numRuns: 150, seed: 20261126 },
  )
})
