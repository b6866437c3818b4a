// Answers over HTTP: informational responses, redirects, compression, size limits, back-pressure, aborts.
import { createServer, type ServerResponse } from 'node:http'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listening, rawServer } from '../../../adapters/testing/network-faults.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { expectWithin } from '../../support/in-time.ts'
import { call, wireRequest } from './support.ts'

const transport = undiciTransport({ maxResponseBytes: 100_000 })
let answer: (res: ServerResponse, headers: Record<string, unknown>) => void = () => {}
let requests = 0
const server = createServer((req, res) => {
  requests++
  req.resume().on('end', () => answer(res, req.headers))
})
let url = ''
beforeAll(async () => {
  url = `http://127.0.0.1:${await listening(server)}/`
})
afterAll(async () => {
  await transport.close()
  server.closeAllConnections()
  server.close()
})

const encoded = (encoding: string, body: Buffer, more: { stream?: boolean } = {}) => {
  answer = (res) => res.writeHead(200, { 'content-encoding': encoding }).end(body)
  return call(transport, url, more)
}

describe('informational answers', () => {
  it.each([102, 103])('%i is not the answer', async (status) => {
    answer = (res) => {
      if (status === 102) res.writeProcessing()
      else res.writeEarlyHints({ link: '</a.css>; rel=preload' })
      res.end('the answer')
    }
    const seen = await call(transport, url)
    expect([seen.status, seen.body.toString(), seen.calls]).toEqual([200, 'the answer', ['head', 'data', 'end']])
  })

  it('nor is 100 that nobody asked for, on a fresh socket or a reused one', async () => {
    const before = requests
    answer = (res) => {
      res.writeContinue()
      res.writeContinue()
      res.end('the answer')
    }
    for (let time = 0; time < 3; time++) {
      const seen = await call(transport, url)
      expect([seen.status, seen.body.toString(), seen.calls]).toEqual([200, 'the answer', ['head', 'data', 'end']])
    }
    expect(requests - before).toBe(3)
  })

  it('a socket that ends after its 100 is broken, and nothing is sent again blindly', async () => {
    answer = (res) => {
      res.writeContinue()
      setImmediate(() => res.destroy())
    }
    const seen = await call(transport, url)
    expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'reset', stale: false } })
  })
})

describe('redirects', () => {
  it.each([301, 302, 303, 307, 308])('%i is handed over, not followed', async (status) => {
    answer = (res) => res.writeHead(status, { location: url }).end('moved')
    const before = requests
    const seen = await call(transport, url, { headers: ['authorization', 'Bearer sk-secret'] })
    expect([seen.status, seen.body.toString()]).toEqual([status, 'moved'])
    expect(requests - before).toBe(1)
  })
})

describe('compression that was not asked for', () => {
  const body = Buffer.from('{"said":"hello"}')
  it.each([
    ['gzip', gzipSync(body)],
    ['x-gzip', gzipSync(body)],
    ['br', brotliCompressSync(body)],
    ['deflate', deflateSync(body)],
    ['identity', body],
  ])('%s is decoded', async (encoding, bytes) => {
    const seen = await encoded(encoding, bytes)
    expect([seen.calls, seen.body.toString()]).toEqual([['head', 'data', 'end'], body.toString()])
  })

  it('asks for identity is the caller’s business: an unknown encoding is 502', async () => {
    for (const encoding of ['compress', 'gzip, br', 'zstd-x']) {
      const seen = await encoded(encoding, body)
      expect(seen.error, encoding).toMatchObject({ status: 502, upstream: { kind: 'protocol' } })
    }
  })

  it('broken and cut bodies are 502', async () => {
    for (const bytes of [Buffer.from('not gzip'), gzipSync(body).subarray(0, 15)]) {
      const seen = await encoded('gzip', bytes)
      expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'protocol' } })
    }
  })

  it.each([
    ['gzip', true],
    ['br', true],
    ['gzip', false],
  ] as const)('a %s bomb ends at a ratio of 100, a small one at 1 MiB (stream: %s)', async (encoding, stream) => {
    const bomb = Buffer.alloc(40 << 20)
    const bytes =
      encoding === 'gzip' ? gzipSync(bomb) : brotliCompressSync(bomb, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    const seen = await encoded(encoding, bytes, { stream })
    expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'protocol' } })
    expect(seen.body.length).toBeLessThan(Math.max(1 << 20, bytes.length * 100) + 65_536)
  })
})

describe('sizes', () => {
  it('a non-stream answer over the cap is 502 and the socket goes', async () => {
    let closed = false
    answer = (res) => {
      res.on('close', () => {
        closed = true
      })
      res.writeHead(200)
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(16_384))) {}
        if (!res.destroyed) res.once('drain', more)
      }
      more()
    }
    const seen = await call(transport, url)
    expect(seen.error).toMatchObject({ status: 502, message: 'The upstream answer is larger than the limit.' })
    expect(seen.body.length).toBeLessThanOrEqual(100_000)
    await expect.poll(() => closed).toBe(true)
  })

  it('a stream is bounded by its reader instead', async () => {
    answer = (res) => res.end(Buffer.alloc(300_000))
    const seen = await call(transport, url, { stream: true })
    expect([seen.body.length, seen.error]).toEqual([300_000, null])
  })
})

describe('the reader', () => {
  it('pauses the socket while it is not ready', async () => {
    let written = 0
    let wide = false
    answer = (res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(Buffer.alloc(65_536))) written += 65_536
        wide = true
        if (!res.destroyed) res.once('drain', more)
      }
      more()
    }
    let release = (): void => {}
    let chunks = 0
    const sent = transport.send(wireRequest(url, { stream: true }), {
      head() {},
      data() {
        chunks++
        return new Promise((resolve) => {
          release = resolve
        })
      },
      end() {},
      error() {},
    })
    await expect.poll(() => chunks).toBe(1)
    let before = -1
    // The kernel's buffers fill up; then no more bytes move.
    let same = 0
    const still = (): number => {
      same = written === before ? same + 1 : 0
      before = written
      return same
    }
    await expect.poll(still, { interval: 40 }).toBe(4)
    expect([chunks, wide]).toEqual([1, true])
    expect(written).toBeLessThan(16 << 20)
    release()
    await expect.poll(() => chunks).toBe(2)
    sent.abort(GatewayError.clientGone())
  })

  it('hears nothing after it has aborted', async () => {
    await expectWithin(100, async () => {
      const calls: string[] = []
      let gone = 0
      answer = (res) => {
        res.on('close', () => {
          gone = performance.now()
        })
        res.write('first')
      }
      const sent = transport.send(wireRequest(url, { stream: true }), {
        head: () => void calls.push('head'),
        data: () => void calls.push('data') as undefined,
        end: () => void calls.push('end'),
        error: () => void calls.push('error'),
      })
      await expect.poll(() => calls).toEqual(['head', 'data'])
      const at = performance.now()
      sent.abort(GatewayError.clientGone())
      await expect.poll(() => gone).toBeGreaterThan(0)
      expect(calls).toEqual(['head', 'data'])
      return gone - at
    })
  })

  it('may abort before the connection stands', async () => {
    const raw = await rawServer(() => {})
    const calls: string[] = []
    const sent = transport.send(wireRequest(`http://127.0.0.1:${raw.port}/`), {
      head: () => void calls.push('head'),
      data: () => undefined,
      end: () => void calls.push('end'),
      error: () => void calls.push('error'),
    })
    sent.abort(GatewayError.clientGone())
    await raw.close()
    expect(calls).toEqual([])
  })
})

it('a compressed answer waits for its reader as a plain one does', async () => {
  const text = Buffer.alloc(8 * 1024 * 1024)
  for (let i = 0, x = 1; i < text.length; i++) {
    x = (Math.imul(x, 1_103_515_245) + 12_345) >>> 0
    text[i] = 97 + ((x >> 16) & 15)
  }
  answer = (res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  let release = (): void => {}
  const deaf = new Promise<void>((resolve) => {
    release = resolve
  })
  let bytes = 0
  await new Promise<void>((resolve, reject) => {
    let looked = false
    transport.send(wireRequest(url, { stream: true }), {
      head() {},
      data(chunk) {
        bytes += chunk.length
        if (looked) return undefined
        looked = true
        setTimeout(() => {
          try {
            expect(bytes).toBeLessThan(256 * 1024)
            release()
          } catch (error) {
            reject(error)
          }
        }, 100)
        return deaf
      },
      end: resolve,
      error: reject,
    })
  })
  expect(bytes).toBe(text.length)
})

it('a handler that pauses at each chunk gets every byte once, and no empty chunk', async () => {
  const body = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
  answer = (res) => res.end(body)
  const chunks: Uint8Array[] = []
  await new Promise<void>((resolve, reject) => {
    const sent = transport.send(wireRequest(url, { stream: true }), {
      head() {},
      data(chunk) {
        chunks.push(chunk)
        if (chunk.length > 0) return Promise.resolve()
        sent.abort(GatewayError.clientGone())
        reject(new Error('an empty chunk'))
        return undefined
      },
      end: resolve,
      error: reject,
    })
  })
  expect(Buffer.concat(chunks).equals(body)).toBe(true)
})
