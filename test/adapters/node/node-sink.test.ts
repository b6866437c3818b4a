import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeSink } from '../../../adapters/node/server/node-sink.ts'
import { ASK, fetched, HEAD, received, serving, stop } from './sink-server.ts'

afterEach(stop)

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
