// Failures below HTTP: each is one `handler.error` with its class, and no message contains hosts or secrets.
import { afterAll, describe, expect, it } from 'vitest'
import { certificate } from '../../../adapters/testing/certificate.ts'
import { secureUpstream, text } from '../../../adapters/testing/index.ts'
import { closedPort, rawServer, silentPort, tarpit } from '../../../adapters/testing/network-faults.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { expectWithin } from '../../support/in-time.ts'
import { call } from './support.ts'

const transport = undiciTransport()
const closing: { close(): Promise<void> }[] = []
afterAll(async () => {
  await transport.close()
  for (const one of closing) await one.close()
})
const owned = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(one)
  return one
}

const says = (response: string) => rawServer((socket) => socket.once('data', () => socket.end(response)))

describe('reaching the upstream', () => {
  it('a refused connection is 502 connect', async () => {
    const seen = await call(transport, `http://127.0.0.1:${await closedPort()}/`)
    expect(seen.calls).toEqual(['error'])
    expect(seen.error).toMatchObject({ status: 502, code: 'upstream_error', upstream: { kind: 'connect', status: 0 } })
    expect(seen.error?.message).not.toMatch(/127\.0\.0\.1|ECONN/)
  })

  it('an unanswered SYN is 504 at the connect timeout, and 0 waits on', async () => {
    const pit = owned(await tarpit())
    await expectWithin(1500, async () => {
      const seen = await call(transport, `http://127.0.0.1:${pit.port}/`, { connectTimeoutMs: 200 })
      expect(seen.error).toMatchObject({ status: 504, code: 'upstream_timeout', upstream: { kind: 'timeout' } })
      expect(seen.ms).toBeGreaterThanOrEqual(190)
      return seen.ms
    })
    const patient = call(transport, `http://127.0.0.1:${pit.port}/`, { connectTimeoutMs: 0 })
    const first = await Promise.race([patient, new Promise((resolve) => setTimeout(() => resolve('waiting'), 400))])
    expect(first).toBe('waiting')
  })

  it('a name that does not resolve is 502 dns', async () => {
    const seen = await call(transport, 'http://no-such-host.invalid/')
    expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'dns' } })
    expect(seen.error?.message).not.toContain('invalid')
  })

  it('an address or header that cannot be sent is an error of the handler, never a throw', async () => {
    for (const [url, headers] of [
      ['ftp://127.0.0.1/', []],
      ['http://', []],
      ['http://127.0.0.1:1/', ['x-bad', 'a\r\nb']],
      ['http://127.0.0.1:1/a b', []],
    ] as [string, string[]][]) {
      const seen = await call(transport, url, { headers })
      expect(seen.calls, url).toEqual(['error'])
      expect(seen.error?.status, url).toBe(502)
    }
  })
})

describe('TLS', () => {
  const good = certificate({ host: '127.0.0.1' })
  const trusting = undiciTransport({ ca: good.cert })
  afterAll(() => trusting.close())

  it('a certificate that is trusted and names the host is accepted', async () => {
    const upstream = owned(await secureUpstream(good, text('secure')))
    const seen = await call(trusting, `${upstream.baseUrl('chat')}/chat/completions`)
    expect([seen.status, seen.body.toString()]).toEqual([200, expect.stringContaining('secure')])
  })

  const cases = {
    'self-signed and unknown': certificate({ host: '127.0.0.1' }),
    'another host': certificate({ host: 'elsewhere.example' }),
    expired: certificate({ host: '127.0.0.1', notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') }),
    'not yet valid': certificate({ host: '127.0.0.1', notBefore: new Date('2040-01-01'), notAfter: new Date('2041-01-01') }),
  }
  it.each(Object.entries(cases))('%s is 502 tls, and nothing is sent', async (title, tls) => {
    const upstream = owned(await secureUpstream(tls, text('never')))
    const client = title.startsWith('self') ? transport : owned(undiciTransport({ ca: tls.cert }))
    const seen = await call(client, `${upstream.baseUrl('chat')}/chat/completions`)
    expect(seen.calls).toEqual(['error'])
    expect(seen.error).toMatchObject({
      status: 502,
      upstream: { kind: 'tls' },
      message: 'TLS verification failed for the upstream.',
    })
    expect(upstream.requests).toHaveLength(0)
  })

  it('plaintext behind https is 502 tls, a stalled handshake 504', async () => {
    const plain = owned(await says('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
    expect((await call(transport, `https://127.0.0.1:${plain.port}/`)).error).toMatchObject({
      status: 502,
      upstream: { kind: 'tls' },
    })
    const silent = owned(await silentPort())
    const seen = await call(transport, `https://127.0.0.1:${silent.port}/`, { connectTimeoutMs: 200 })
    expect(seen.error).toMatchObject({ status: 504, upstream: { kind: 'timeout' } })
  })
})

describe('broken HTTP', () => {
  const cases: [string, string, object][] = [
    ['not HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n', { kind: 'protocol' }],
    ['a head without end', 'HTTP/1.1 200 OK\r\nx: y', { kind: 'reset', stale: false }],
    ['a head over the limit', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, { kind: 'protocol' }],
    ['a body shorter than said', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort', { kind: 'reset', stale: false }],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello', { kind: 'protocol' }],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nhello\r\n', { kind: 'protocol' }],
  ]
  it.each(cases)('%s is 502', async (_title, response, upstream) => {
    const server = owned(await says(response))
    const seen = await call(transport, `http://127.0.0.1:${server.port}/`)
    expect(seen.calls.at(-1)).toBe('error')
    expect(seen.error).toMatchObject({ status: 502, upstream })
  })

  it('a reset mid-body comes after what was received', async () => {
    const server = owned(
      await rawServer((socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort', () => setTimeout(() => socket.resetAndDestroy(), 20))
        }),
      ),
    )
    const seen = await call(transport, `http://127.0.0.1:${server.port}/`)
    expect(seen.calls).toEqual(['head', 'data', 'error'])
    expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'reset', stale: false } })
  })
})
