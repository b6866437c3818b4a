// Connections between requests: reuse, the one allowed blind resend on a stale socket, the idle limit, the connection limit.
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { certificate } from '../../../adapters/testing/certificate.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { reset, type Step, scriptedUpstream, secureUpstream, text } from '../../../adapters/testing/index.ts'
import { connectProxy } from '../../../adapters/testing/proxies.ts'
import { type UndiciTransportOptions, undiciTransport } from '../../../adapters/transport/undici.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { call, wireRequest } from './support.ts'

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const one of closing.splice(0)) await one.close()
})
const owned = <T extends { close(): Promise<void> }>(one: T): T => {
  closing.unshift(one)
  return one
}
const transportWith = (options: UndiciTransportOptions = {}) => owned(undiciTransport(options))

async function counting(delayMs = 0) {
  const sockets = new Set<Socket>()
  let opened = 0
  const server = createServer((req, res) => req.resume().on('end', () => setTimeout(() => res.end('ok'), delayMs)))
  server.on('connection', (socket) => {
    opened++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  owned({
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open: () => sockets.size,
    opened: () => opened,
  }
}

describe('reuse', () => {
  it('sends one request after the other over one socket', async () => {
    const server = await counting()
    const transport = transportWith()
    for (let i = 0; i < 5; i++) expect((await call(transport, server.url)).status).toBe(200)
    expect(server.opened()).toBe(1)
  })

  it('opens no more than maxConnections, the rest wait; an abort takes a waiting one out', async () => {
    const server = await counting(20)
    const transport = transportWith({ maxConnections: 2 })
    const calls = Array.from({ length: 6 }, () => call(transport, server.url))
    const heard: string[] = []
    const waiting = transport.send(wireRequest(server.url), {
      head: () => void heard.push('head'),
      data: () => undefined,
      end: () => void heard.push('end'),
      error: () => void heard.push('error'),
    })
    waiting.abort(GatewayError.clientGone())
    for (const seen of await Promise.all(calls)) expect(seen.status).toBe(200)
    expect(server.open()).toBeLessThanOrEqual(2)
    expect(heard).toEqual([])
  })

  it('UPSTREAM_POOL_MAX_IDLE_PER_HOST 0 keeps nothing open', async () => {
    const server = await counting()
    const transport = transportWith({ maxIdlePerHost: 0 })
    for (let i = 0; i < 3; i++) await call(transport, server.url)
    await expect.poll(server.open).toBe(0)
    expect(server.opened()).toBe(3)
  })

  it('closes what nobody needed for five seconds, down to the limit', async () => {
    const server = await counting(5)
    const clock = fakeClock()
    const transport = transportWith({ maxIdlePerHost: 4, clock })
    await Promise.all(Array.from({ length: 12 }, () => call(transport, server.url)))
    expect(server.open()).toBe(12)
    for (let i = 0; i < 14; i++) {
      await clock.advance(500)
      await call(transport, server.url)
    }
    await expect.poll(server.open).toBeLessThanOrEqual(5)
    expect(server.open()).toBeGreaterThanOrEqual(4)
  })

  it.each([
    'directly',
    'through a tunnel',
  ])('%s, does so when no more requests come, and looks no longer than it must', async (way) => {
    const server = await counting(5)
    const proxy = owned(await connectProxy())
    const through = way === 'directly' ? {} : { proxyUrl: `http://127.0.0.1:${proxy.port}` }
    const clock = fakeClock()
    const transport = transportWith({ maxIdlePerHost: 3, clock })
    for (const burst of [9, 5]) {
      await Promise.all(Array.from({ length: burst }, () => call(transport, server.url, through)))
      expect(server.open()).toBe(burst)
      await clock.advance(4900)
      await settled()
      expect(server.open()).toBe(burst)
      await clock.advance(1200)
      await expect.poll(server.open).toBe(3)
      await clock.advance(1000)
      expect(clock.pending).toBe(0)
    }
    await call(transport, server.url, through)
    expect(clock.pending).toBe(0)
  })

  it('leaves busy sockets alone, however long their answer takes, and counts from its end', async () => {
    const server = await counting(400)
    const clock = fakeClock()
    const transport = transportWith({ maxIdlePerHost: 1, clock })
    const calls = Array.from({ length: 4 }, () => call(transport, server.url))
    await expect.poll(server.open).toBe(4)
    await clock.advance('60s')
    for (const seen of await Promise.all(calls)) expect(seen.status).toBe(200)
    await clock.advance(4000)
    await settled()
    expect(server.open()).toBe(4)
    await clock.advance(2500)
    await expect.poll(server.open).toBe(1)
  })

  it('looks at nothing once it is closed', async () => {
    const server = await counting(5)
    const clock = fakeClock()
    const transport = transportWith({ maxIdlePerHost: 1, clock })
    await Promise.all(Array.from({ length: 4 }, () => call(transport, server.url)))
    expect(clock.pending).toBe(1)
    await transport.close()
    expect(clock.pending).toBe(0)
  })
})

/** The other side has seen the closed connections by then. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 30))

describe('a socket that died while it lay idle', () => {
  const tls = certificate({ host: '127.0.0.1' })
  const schemes = {
    http: (...steps: Step[]) => scriptedUpstream(...steps),
    https: (...steps: Step[]) => secureUpstream(tls, ...steps),
  }
  it.each(['http', 'https'] as const)('%s: a reset of a reused socket is stale, of a fresh one it is not', async (scheme) => {
    const upstream = owned(await schemes[scheme](text('first'), reset(), text('third')))
    const transport = transportWith({ ca: tls.cert })
    const url = `${upstream.baseUrl('chat')}/chat/completions`
    expect((await call(transport, url)).status).toBe(200)
    const reused = await call(transport, url)
    expect(reused.error).toMatchObject({ status: 502, upstream: { kind: 'reset', stale: true } })
    upstream.script(reset())
    const fresh = await call(transport, url)
    expect(fresh.error).toMatchObject({ status: 502, upstream: { kind: 'reset', stale: false } })
  })

  it('also through a tunnel, where the proxy has spoken before', async () => {
    const upstream = owned(await scriptedUpstream(reset(), text('second'), reset()))
    const proxy = owned(await connectProxy())
    const transport = transportWith()
    const through = { proxyUrl: `http://127.0.0.1:${proxy.port}` }
    const url = `${upstream.baseUrl('chat')}/chat/completions`
    expect((await call(transport, url, through)).error?.upstream).toMatchObject({ kind: 'reset', stale: false })
    expect((await call(transport, url, through)).status).toBe(200)
    expect((await call(transport, url, through)).error?.upstream).toMatchObject({ kind: 'reset', stale: true })
  })

  it('a reset after the first byte of the answer is not', async () => {
    const upstream = owned(
      await scriptedUpstream(text('first'), {
        kind: 'raw',
        status: 200,
        body: 'x'.repeat(100),
        cut: { after: 10, how: 'reset' },
      }),
    )
    const transport = transportWith()
    const url = `${upstream.baseUrl('chat')}/chat/completions`
    await call(transport, url)
    expect((await call(transport, url)).error?.upstream).toMatchObject({ kind: 'reset', stale: false })
  })
})
