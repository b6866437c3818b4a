// Outbound proxies: HTTP CONNECT and SOCKS5, with passwords, to http and https origins; a failure is a 502 without a secret.
import type { Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { certificate } from '../../../adapters/testing/certificate.ts'
import { scriptedUpstream, secureUpstream, text } from '../../../adapters/testing/index.ts'
import { closedPort, rawServer, silentPort } from '../../../adapters/testing/network-faults.ts'
import { connectProxy, socksProxy } from '../../../adapters/testing/proxies.ts'
import { undiciTransport } from '../../../adapters/transport/undici.ts'
import { call } from './support.ts'

const tls = certificate({ host: '127.0.0.1' })
const transport = undiciTransport({ ca: tls.cert })
const closing: { close(): Promise<void> }[] = [transport]
afterAll(async () => {
  for (const one of closing) await one.close()
})
const owned = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.push(one)
  return one
}

const kinds = {
  'http:': (options = {}) => connectProxy(options),
  'socks5:': (options = {}) => socksProxy(options),
}

describe.each(Object.keys(kinds) as (keyof typeof kinds)[])('%s', (protocol) => {
  it.each(['http', 'https'] as const)('carries requests to an %s origin', async (scheme) => {
    const upstream = owned(scheme === 'http' ? await scriptedUpstream(text('hi')) : await secureUpstream(tls, text('hi')))
    const proxy = owned(await kinds[protocol]())
    for (let i = 0; i < 2; i++) {
      const seen = await call(transport, `${upstream.baseUrl('chat')}/chat/completions`, {
        proxyUrl: `${protocol}//127.0.0.1:${proxy.port}`,
      })
      expect(seen.error?.message).toBeUndefined()
      expect([seen.status, seen.body.toString()]).toEqual([200, expect.stringContaining('hi')])
    }
    // The tunnel stays open between requests, and only the proxy was dialled.
    expect(proxy.tunnels).toEqual([`127.0.0.1:${upstream.port}`])
  })

  it('logs in, and says nothing of the password when that fails', async () => {
    const upstream = owned(await scriptedUpstream(text('hi')))
    const proxy = owned(await kinds[protocol]({ credentials: 'user:pässword' }))
    const via = (login: string) => ({ proxyUrl: `${protocol}//${login}@127.0.0.1:${proxy.port}` })
    const url = `${upstream.baseUrl('chat')}/chat/completions`
    expect((await call(transport, url, via('user:p%C3%A4ssword'))).status).toBe(200)
    const refused = await call(transport, url, via('user:wrong-secret'))
    expect(refused.error).toMatchObject({ status: 502, code: 'upstream_error', upstream: { kind: 'proxy' } })
    expect(refused.error?.message).not.toMatch(/wrong-secret|user|127\.0/)
  })

  it('a proxy that is not there, or cannot reach the origin, is 502 proxy', async () => {
    const dead = await call(transport, 'http://127.0.0.1:9/', { proxyUrl: `${protocol}//127.0.0.1:${await closedPort()}` })
    expect(dead.error).toMatchObject({ status: 502, upstream: { kind: 'proxy' } })
    const proxy = owned(await kinds[protocol]({ refuse: protocol === 'http:' ? 502 : 5 }))
    const refused = await call(transport, 'http://127.0.0.1:9/', { proxyUrl: `${protocol}//127.0.0.1:${proxy.port}` })
    expect(refused.error).toMatchObject({ status: 502, upstream: { kind: 'proxy' } })
  })

  it('does not weaken the check of the origin’s certificate', async () => {
    const proxy = owned(await kinds[protocol]())
    for (const wrong of [certificate({ host: '127.0.0.1' }), certificate({ host: 'elsewhere.example' })]) {
      const upstream = owned(await secureUpstream(wrong, text('never')))
      const seen = await call(transport, `${upstream.baseUrl('chat')}/chat/completions`, {
        proxyUrl: `${protocol}//127.0.0.1:${proxy.port}`,
      })
      expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'tls' } })
      expect(upstream.requests).toHaveLength(0)
    }
  })
})

it('the global proxy of one connection does not serve another: pools are kept apart', async () => {
  const upstream = owned(await scriptedUpstream(text('hi')))
  const [a, b] = [owned(await connectProxy()), owned(await connectProxy())]
  const url = `${upstream.baseUrl('chat')}/chat/completions`
  for (const proxyUrl of [`http://127.0.0.1:${a.port}`, `http://127.0.0.1:${b.port}`, null]) {
    expect((await call(transport, url, { proxyUrl })).status).toBe(200)
  }
  expect([a.tunnels.length, b.tunnels.length, upstream.requests.length]).toEqual([1, 1, 3])
})

const hangUps: Record<string, (socket: Socket) => unknown> = {
  'hangs up at once': (socket) => socket.end(),
  'hangs up when it is asked': (socket) => socket.once('data', () => socket.end()),
  'resets when it is asked': (socket) => socket.once('data', () => socket.resetAndDestroy()),
  'speaks something else': (socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')),
}

describe.each(['http:', 'https:', 'socks5:'])('a proxy of %s that', (protocol) => {
  it.each(Object.keys(hangUps))('%s is dialled once a call, and the failure is the proxy’s', async (how) => {
    let dials = 0
    const proxy = owned(
      await rawServer((socket) => {
        dials++
        hangUps[how]?.(socket)
      }),
    )
    const seen = await call(transport, 'http://127.0.0.1:9/', { proxyUrl: `${protocol}//127.0.0.1:${proxy.port}` })
    expect(seen.error).toMatchObject({ status: 502, upstream: { kind: 'proxy' } })
    expect(dials).toBe(1)
  })
})

it('a proxy that never answers is given up at the connect timeout, and one that is not there is said to be so', async () => {
  const silent = owned(await silentPort())
  const given = await call(transport, 'http://127.0.0.1:9/', {
    proxyUrl: `http://127.0.0.1:${silent.port}`,
    connectTimeoutMs: 500,
  })
  expect(given.error).toMatchObject({ status: 502, upstream: { kind: 'proxy' } })
  const dead = await call(transport, 'http://127.0.0.1:9/', { proxyUrl: `http://127.0.0.1:${await closedPort()}` })
  expect(dead.error?.message).toBe('The outbound proxy could not be reached.')
})

it('a user name without a password is sent to the proxy too', async () => {
  const upstream = owned(await scriptedUpstream(text('hi')))
  const proxy = owned(await connectProxy({ credentials: 'tok:' }))
  const proxyUrl = `http://tok@127.0.0.1:${proxy.port}`
  expect((await call(transport, `${upstream.baseUrl('chat')}/chat/completions`, { proxyUrl })).status).toBe(200)
})
