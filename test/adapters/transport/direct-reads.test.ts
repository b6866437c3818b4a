// Many answers at once over plain sockets, which share one buffer for their reads: sizes, pieces, pauses of the reader and ends are generated.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import type { Transport } from '../../../core/types/ports/ports.ts'
import { wireRequest } from './support.ts'

interface Plan {
  /** Bytes of the body. */
  readonly size: number
  /** Bytes of a write of the upstream. */
  readonly piece: number
  /** The reader waits for some turns of the event loop after each n-th piece; 0: never. */
  readonly pauseEach: number
  readonly framing: 'length' | 'chunked' | 'until the end'
  /** The upstream closes the connection after the answer. */
  readonly closes: boolean
}

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

function bodyOf(index: number, size: number): Buffer {
  const block = createHash('sha512').update(String(index)).digest()
  return Buffer.alloc(size, block)
}

async function upstream(plans: readonly Plan[]): Promise<string> {
  const server: Server = createServer({ noDelay: true }, (socket) => {
    let asked = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      asked += bytes
      const path = /^\S+ \/(\d+) [\s\S]*\r\n\r\n\{\}$/.exec(asked)?.[1]
      if (path === undefined) return
      asked = ''
      void answer(socket, plans[Number(path)] as Plan, Number(path))
    })
  }).listen(0, '127.0.0.1')
  open.push(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function answer(socket: Socket, { size, piece, framing, closes }: Plan, index: number): Promise<void> {
  const ends = closes || framing === 'until the end'
  const body = bodyOf(index, size)
  const head = `HTTP/1.1 200 OK\r\n${ends ? 'connection: close\r\n' : ''}`
  const bytes = {
    length: () => [`${head}content-length: ${size}\r\n\r\n`, body],
    chunked: () => [`${head}transfer-encoding: chunked\r\n\r\n`, ...chunks(body, piece), '0\r\n\r\n'],
    'until the end': () => [`${head}\r\n`, body],
  }[framing]()
  const whole = Buffer.concat(bytes.map((part) => Buffer.from(part)))
  for (let at = 0; at < whole.length && !socket.destroyed; at += piece) {
    const taken = socket.write(whole.subarray(at, at + piece))
    while (!taken && socket.writableNeedDrain && !socket.destroyed) await turn()
    await turn()
  }
  if (ends) socket.end()
}

function chunks(body: Buffer, length: number): (string | Buffer)[] {
  const parts: (string | Buffer)[] = []
  for (let at = 0; at < body.length; at += length) {
    const data = body.subarray(at, at + length)
    parts.push(`${data.length.toString(16)}\r\n`, data, '\r\n')
  }
  return parts
}

/** @param leaveAfter the caller goes away at this piece */
function received(transport: Transport, url: string, pauseEach: number, leaveAfter = 0): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Uint8Array[] = []
    const call = transport.send(wireRequest(url, { stream: true }), {
      head() {},
      data(piece) {
        pieces.push(piece)
        if (pieces.length === leaveAfter) {
          call.abort({ type: 'cancelled', message: 'gone', status: 499 } as never)
          resolve(Buffer.concat(pieces))
        }
        if (pauseEach === 0 || pieces.length % pauseEach > 0) return undefined
        return turn().then(() => turn())
      },
      end: () => resolve(Buffer.concat(pieces)),
      error: (error) => (leaveAfter === 0 ? reject(error) : resolve(Buffer.concat(pieces))),
    })
  })
}

const plan: fc.Arbitrary<Plan> = fc.record({
  size: fc.oneof(fc.nat(300), fc.nat(120_000)),
  piece: fc.oneof(fc.integer({ min: 40, max: 5000 }), fc.integer({ min: 5000, max: 200_000 })),
  pauseEach: fc.nat(3),
  framing: fc.constantFrom('length' as const, 'chunked' as const, 'until the end' as const),
  closes: fc.boolean(),
})

it('brings each caller exactly the bytes of its own answer', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 2, maxLength: 16 }), async (plans) => {
      const base = await upstream(plans)
      const transport = undiciTransport()
      open.push(() => transport.close())
      // The second time on kept connections.
      for (let time = 0; time < 2; time++) {
        const bodies = await Promise.all(plans.map(({ pauseEach }, at) => received(transport, `${base}/${at}`, pauseEach)))
        bodies.forEach((body, at) => void expect(body.equals(bodyOf(at, plans[at]?.size ?? 0))).toBe(true))
      }
    }),
    { seed: 7, numRuns: 12 },
  )
})

it('keeps other answers whole when a caller leaves', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(plan, { minLength: 4, maxLength: 12 }), fc.integer({ min: 1, max: 4 }), async (plans, after) => {
      const base = await upstream(plans)
      const transport = undiciTransport()
      open.push(() => transport.close())
      const bodies = await Promise.all(
        plans.map(({ pauseEach }, at) => received(transport, `${base}/${at}`, pauseEach, at % 2 === 0 ? 0 : after)),
      )
      bodies.forEach((body, at) => {
        const whole = bodyOf(at, plans[at]?.size ?? 0)
        expect(body.equals(at % 2 === 0 ? whole : whole.subarray(0, body.length))).toBe(true)
      })
    }),
    { seed: 8, numRuns: 12 },
  )
})
