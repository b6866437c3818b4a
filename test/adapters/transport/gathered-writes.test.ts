// Pieces that leave in one buffer: the buffer is used again only when nobody holds its bytes.
import { type Server, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { writeLate } from '../../../adapters/transport/late-writes.ts'
import { lateSocket, listening } from './late-sockets.ts'

let server: Server
beforeEach(async () => {
  server = await listening({ pauseOnConnect: true })
})
afterEach(() => {
  vi.restoreAllMocks()
  server.close()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

function writeTogether(socket: Socket, pieces: readonly (string | Uint8Array)[]): void {
  socket.cork()
  for (const piece of pieces) {
    if (typeof piece === 'string') socket.write(piece, 'latin1')
    else socket.write(piece)
  }
  socket.uncork()
}

it('pieces of a cork leave in one write without a list', async () => {
  const lists = vi.spyOn(Socket.prototype, '_writev' as never)
  const { socket, peer } = await lateSocket(server)
  writeTogether(socket, ['head \u00fc\r\n', Buffer.from('bödy'), 'tail'])
  await turn()
  expect(lists).not.toHaveBeenCalled()
  socket.end()
  peer.resume()
  expect(await buffer(peer)).toEqual(
    Buffer.concat([Buffer.from('head \u00fc\r\n', 'latin1'), Buffer.from('bödy'), Buffer.from('tail')]),
  )
})

it('a peer that reads late gets its own bytes, whatever was written to others meanwhile', async () => {
  const pairs = []
  for (let at = 0; at < 4; at++) pairs.push(await lateSocket(server))
  const sent = pairs.map((): Buffer[] => [])
  // More than the system takes for one socket: later writes wait with their bytes.
  for (let round = 0; round < 300; round++) {
    for (const [at, { socket }] of pairs.entries()) {
      const body = Buffer.alloc(20_000, `${at}:${round};`)
      writeTogether(socket, [`head ${at} ${round}\r\n`, body])
      sent[at]?.push(Buffer.from(`head ${at} ${round}\r\n`), body)
    }
    await turn()
  }
  expect(pairs.some(({ socket }) => socket.writableLength > 0)).toBe(true)
  for (const { socket } of pairs) socket.end()
  for (const [at, { peer }] of pairs.entries())
    expect((await buffer(peer)).equals(Buffer.concat(sent[at] as Buffer[])), String(at)).toBe(true)
})

it('a stream of another kind, which may keep what it was given, gets the pieces themselves', async () => {
  const kept: Uint8Array[] = []
  const stream = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      kept.push(chunk)
      done()
    },
    writev(chunks, done) {
      kept.push(...chunks.map(({ chunk }) => chunk))
      done()
    },
  })
  writeLate(stream as Socket)
  for (const word of ['one', 'two']) writeTogether(stream as Socket, [Buffer.from(`${word} `), Buffer.from('piece;')])
  await turn()
  for (const word of ['three', 'four']) writeTogether(stream as Socket, [Buffer.from(`${word} `), Buffer.from('piece;')])
  await turn()
  expect(String(Buffer.concat(kept))).toBe('one piece;two piece;three piece;four piece;')
})
