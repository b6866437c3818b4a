import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { NodeSink } from '../../../adapters/node/server/node-sink.ts'

const HEAD = ['content-type', 'text/plain; charset=utf-8']
const ASK = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'

let server: Server | null = null
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

interface Seen {
  /** Pieces of each call into the socket's handle. */
  readonly writes: number[]
  readonly port: number
}

/** A server that answers with `answer`, and the writes of its sockets. */
async function serving(answer: (sink: NodeSink, res: ServerResponse, req: IncomingMessage) => unknown): Promise<Seen> {
  const writes: number[] = []
  server = createServer((req, res) => void answer(new NodeSink(req, res), res, req))
  server.on('connection', (socket: Socket) => {
    const { _write: one, _writev: many } = socket
    socket._write = function (...args) {
      writes.push(1)
      return one.apply(this, args)
    }
    socket._writev = function (chunks, done) {
      writes.push(chunks.length)
      return many?.call(this, chunks, done)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { writes, port: (server.address() as AddressInfo).port }
}

/** Sends a request and returns the answer's bytes. */
async function received(port: number, ask = ASK, until = (text: string) => text.endsWith('0\r\n\r\n')): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1')
  let all = Buffer.alloc(0)
  socket.write(ask)
  for await (const chunk of socket) {
    all = Buffer.concat([all, chunk as Buffer])
    if (until(all.toString('latin1'))) break
  }
  socket.destroy()
  return all
}

const fetched = async (port: number) => new Uint8Array(await (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer())
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a whole answer', () => {
  it.each([
    ['ASCII text', '{"a":1}'],
    ['text with other characters', '{"a":"grüß 🦊"}'],
    ['a lone surrogate', '\ud800'],
    ['bytes', new Uint8Array([0x7b, 0xff, 0x00, 0xc3, 0xbc, 0x7d])],
    ['a Buffer of a megabyte', Buffer.alloc(1_000_000, 'ü')],
    ['no body', undefined],
  ])('arrives unchanged: %s', async (_what, body) => {
    const { port } = await serving((sink) => {
      sink.head(200, HEAD)
      sink.end(body)
    })
    expect(Buffer.from((body ?? '') as string).equals(await fetched(port))).toBe(true)
  })

  it.each([
    ['{"a":"grüß"}'],
    ['{"a":1}'],
    [Buffer.from('{"a":1}')],
    [new Uint8Array([1, 2, 3])],
  ])('leaves in one piece with its head: %s', async (body) => {
    const { writes, port } = await serving((sink) => {
      sink.head(200, HEAD)
      sink.end(body)
    })
    await fetched(port)
    expect(writes).toEqual([1])
  })

  it('goes through a middleware that replaced write and end', async () => {
    const ends: unknown[] = []
    const { port } = await serving((sink, res) => {
      const end = res.end
      res.end = ((...args: Parameters<typeof end>) => {
        ends.push(args[0])
        return end.apply(res, args)
      }) as typeof end
      sink.head(200, HEAD)
      sink.end('hello')
    })
    expect(Buffer.from(await fetched(port)).toString()).toBe('hello')
    expect(ends).toEqual(['hello'])
  })

  it('keeps the order of pipelined requests', async () => {
    let first: (() => void) | null = null
    const { port } = await serving((sink, _res, req) => {
      sink.head(200, HEAD)
      if (req.url === '/1') first = () => sink.end('first!')
      else {
        sink.end('second')
        first?.()
      }
    })
    const ask = ASK.replace('/', '/1') + ASK.replace('/', '/2')
    const text = (await received(port, ask, (seen) => seen.endsWith('second'))).toString()
    expect(text.indexOf('first!')).toBeGreaterThan(0)
    expect(text.indexOf('second')).toBeGreaterThan(text.indexOf('first!'))
  })

  it('reports the end of the response', async () => {
    const finished: boolean[] = []
    const { port } = await serving((sink, res) => {
      res.on('finish', () => finished.push(res.writableFinished))
      sink.head(200, HEAD)
      sink.end('hello')
    })
    await fetched(port)
    expect(finished).toEqual([true])
  })
})

describe('the head of an answer', () => {
  /** Names and values without the date; their order is that of the answer. */
  const headOf = (answer: Buffer) =>
    answer
      .toString('latin1')
      .split('\r\n\r\n')[0]
      ?.replace(/^Date: .*\r\n/m, '')

  it.each([
    ['a whole answer', 200, ASK],
    ['an error', 404, ASK],
    ['an unknown status', 299, ASK],
    ['no content', 204, ASK],
    ['HTTP/1.0', 200, ASK.replace('1.1', '1.0')],
    ['HEAD', 200, ASK.replace('GET', 'HEAD')],
    ['a client that closes', 200, ASK.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n')],
  ])('is what writeHead writes: %s', async (_what, status, ask) => {
    const headers = [...HEAD, 'x-many', 'a', 'x-many', 'b', 'x-empty', '', 'x-latin', '\u00fc', 'x-tab', 'a\tb']
    const answers: (string | undefined)[] = []
    for (const plain of [true, false]) {
      const { port } = await serving((sink, res) => {
        if (plain) {
          res.writeHead(status, status === 204 ? headers : [...headers, 'content-length', '5'])
          // Beside a text Node writes the head in the encoding of the text.
          return void res.end(Buffer.from('hello'))
        }
        sink.head(status, headers)
        sink.end('hello')
      })
      for (let turn = 0; turn < 3; turn++) answers.push(headOf(await received(port, ask, (text) => text.includes('\r\n\r\n'))))
      server?.closeAllConnections()
      server?.close()
    }
    expect(answers[0]).toContain(` ${status} `)
    expect(new Set(answers).size, answers.join('\n')).toBe(1)
  })

  it('is right when each answer has another value', async () => {
    let count = 0
    const { port } = await serving((sink) => {
      sink.head(200, [...HEAD, 'x-changes', `v${count++}`, 'x-own', `o${count % 3}`])
      sink.end('hello')
    })
    for (let turn = 0; turn < 150; turn++) {
      const { headers } = await fetch(`http://127.0.0.1:${port}/`)
      expect([headers.get('x-changes'), headers.get('x-own')]).toEqual([`v${turn}`, `o${(turn + 1) % 3}`])
    }
  })

  it.each([
    ['a line break in a value', ['x-a', 'b\r\nx-injected: 1']],
    ['a line break in a name', ['x-a\r\nx-injected', 'b']],
    ['a character beyond Latin-1', ['x-a', '\u2014']],
    ['an empty name', ['', 'b']],
  ])('is refused as writeHead refuses it, each time: %s', async (_what, bad) => {
    const errors: unknown[] = []
    const { port } = await serving((sink, res) => {
      try {
        sink.head(200, [...HEAD, ...bad])
        sink.end('hello')
      } catch (error) {
        errors.push(error)
        res.writeHead(500).end('refused')
      }
    })
    for (let turn = 0; turn < 2; turn++) {
      const answer = await received(port, ASK, (text) => text.includes('refused'))
      expect(answer.toString()).toMatch(/^HTTP\/1.1 500 /)
      expect(answer.toString()).not.toContain('injected')
    }
    expect(errors).toEqual([expect.any(TypeError), expect.any(TypeError)])
  })

  it('has the headers that a middleware set before', async () => {
    const { port } = await serving((sink, res) => {
      res.setHeader('x-middleware', 'yes')
      sink.head(200, HEAD)
      sink.end('hello')
    })
    const { headers } = await fetch(`http://127.0.0.1:${port}/`)
    expect([headers.get('x-middleware'), headers.get('content-type')]).toEqual(['yes', HEAD[1]])
  })
})

describe('a stream', () => {
  const PIECES = ['data: {"a":1}\n\n', 'data: "grüß 🦊"\n\n', new Uint8Array([0x64, 0xff, 0x0a]), 'data: [DONE]\n\n']
  const WHOLE = Buffer.concat(PIECES.map((piece) => Buffer.from(piece as string)))

  it('frames each piece and arrives unchanged', async () => {
    const { port } = await serving(async (sink) => {
      sink.head(200, HEAD)
      for (const piece of PIECES) {
        sink.write(piece)
        await turn()
      }
      sink.end()
    })
    expect(Buffer.from(await fetched(port))).toEqual(WHOLE)
  })

  it('sends each piece after the first as one piece', async () => {
    const { writes, port } = await serving(async (sink) => {
      sink.head(200, HEAD)
      for (const piece of PIECES) {
        sink.write(piece)
        await turn()
      }
      sink.end()
    })
    await fetched(port)
    expect(writes.slice(1)).toEqual([1, 1, 1, 1])
  })

  it('keeps the order of pieces of one turn, large ones included', async () => {
    const large = 'x'.repeat(100_000)
    const { port } = await serving((sink) => {
      sink.head(200, HEAD)
      for (const piece of ['a', 'b', large, 'c']) sink.write(piece)
      sink.end('d')
    })
    expect(Buffer.from(await fetched(port)).toString()).toBe(`ab${large}cd`)
  })

  it('has no framing for HTTP/1.0', async () => {
    const { port } = await serving(async (sink) => {
      sink.head(200, HEAD)
      sink.write('a')
      await turn()
      sink.write('b')
      sink.end()
    })
    const text = (await received(port, ASK.replace('1.1', '1.0'), () => false)).toString()
    expect(text.endsWith('\r\n\r\nab')).toBe(true)
  })

  it('goes through a middleware that replaced write', async () => {
    const { port } = await serving(async (sink, res) => {
      const write = res.write
      res.write = ((chunk: string) => write.call(res, chunk.toUpperCase(), 'utf8')) as typeof write
      sink.head(200, HEAD)
      sink.write('a')
      await turn()
      sink.write('b')
      sink.end()
    })
    expect(Buffer.from(await fetched(port)).toString()).toBe('AB')
  })

  /** Writes until the client's side of the connection is full. */
  async function filled(sink: NodeSink): Promise<{ waiting: Promise<void> | undefined }> {
    for (;;) {
      while (sink.write('x'.repeat(4000)));
      let drained = false
      const waiting = sink.drained()?.then(() => {
        drained = true
      })
      for (let turns = 0; turns < 200 && !drained; turns++) await turn()
      if (!drained) return { waiting }
    }
  }

  it('tells the writer to wait, and when to go on', async () => {
    let goOn = false
    let full: (() => void) | null = null
    const isFull = new Promise<void>((resolve) => {
      full = resolve
    })
    const { port } = await serving(async (sink) => {
      sink.head(200, HEAD)
      sink.write('start')
      await turn()
      const { waiting } = await filled(sink)
      full?.()
      await waiting
      expect(sink.drained()).toBeUndefined()
      goOn = true
      sink.end('the end')
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(ASK)
    await isFull
    expect(goOn).toBe(false)
    let last = ''
    for await (const chunk of socket) {
      last = (last + chunk).slice(-64)
      if (last.endsWith('\r\n0\r\n\r\n')) break
    }
    expect(goOn).toBe(true)
    expect(last).toContain('7\r\nthe end\r\n0\r\n\r\n')
  })

  it('settles the wait when the client leaves', async () => {
    let full: (() => void) | null = null
    let left: ((gone: boolean) => void) | null = null
    const isFull = new Promise<void>((resolve) => {
      full = resolve
    })
    const gone = new Promise<boolean>((resolve) => {
      left = resolve
    })
    const { port } = await serving(async (sink) => {
      sink.head(200, HEAD)
      sink.write('start')
      await turn()
      const { waiting } = await filled(sink)
      full?.()
      await waiting
      left?.(sink.gone)
    })
    const socket = connect(port, '127.0.0.1')
    socket.write(ASK)
    await isFull
    socket.destroy()
    expect(await gone).toBe(true)
  })
})
