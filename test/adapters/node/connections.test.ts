// Connections without requests: they are limited and closed, and other clients are not affected.
import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { addressBlock } from '../../../adapters/node/server/pending-connections.ts'
import { type RunningServer, serve } from '../../../adapters/node/server/serve.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, collect, openSocket, post, rawHttp, until } from './support.ts'

const clock = fakeClock()
const closing: (() => Promise<void>)[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const close of closing.splice(0)) await close()
})

async function listening(env: Record<string, string> = {}): Promise<{ t: TestGateway; server: RunningServer }> {
  const t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } }, env })
  const server = await serve(t.gateway, { host: '127.0.0.1', port: 0, drainMs: 200, clock })
  closing.push(
    () => server.close(),
    () => t.close(),
  )
  return { t, server }
}

/** Half-open on purpose: such a client never ends its side. */
async function open(port: number, count: number, text = ''): Promise<Socket[]> {
  const made: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = await openSocket(port)
    socket.allowHalfOpen = true
    socket.on('error', () => {})
    socket.resume()
    if (text !== '') socket.write(text)
    made.push(socket)
  }
  sockets.push(...made)
  return made
}

const held = (server: RunningServer) =>
  new Promise<number>((resolve, reject) =>
    server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

async function untilHeld(server: RunningServer, count: number): Promise<void> {
  for (let tries = 0; (await held(server)) !== count; tries++) {
    if (tries > 2000) throw new Error(`${await held(server)} connections are open, not ${count}.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('a connection of which no request can be made', () => {
  it.each([
    ['one malformed byte', '\0'],
    ['no HTTP', 'hello\r\n\r\n'],
    ['a malformed head and a lot behind it', `GET / HTTP/9.9\r\n\r\n${'x'.repeat(50_000)}`],
    ['too large a head', `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('%s: it reads its answer and is gone after a short grace, though it never ends its side', async (_what, text) => {
    const { server } = await listening()
    const [socket] = (await open(server.port, 1, text)) as [Socket]
    const answer = collect(socket)
    await until(() => answer().includes('\r\n\r\n'))
    expect(answer()).toMatch(/^HTTP\/1\.1 4(00|31) /)
    await until(() => socket.readableEnded)
    expect(await held(server)).toBe(1)
    await clock.advance(1000)
    await untilHeld(server, 0)
  })

  it('one that times out is gone as well', async () => {
    const { server } = await listening()
    const accepted: Socket[] = []
    server.server.on('connection', (socket) => accepted.push(socket))
    await open(server.port, 3)
    await until(() => accepted.length === 3)
    for (const socket of accepted)
      server.server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
    await clock.advance(1000)
    await untilHeld(server, 0)
  })
})

describe('connections that have not yet brought a whole request', () => {
  it.each([
    ['nothing', ''],
    ['half a head', 'POST /v1/chat/completions HTTP/1.1\r\nhost: loc'],
    ['half a body', 'POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n{"mod'],
  ])('%s: no more than the bound of an address stays, and the oldest goes', async (_what, text) => {
    const { server, t } = await listening({ MAX_PENDING_CONNECTIONS_PER_ADDRESS: '5' })
    const old = await open(server.port, 3, text)
    await clock.advance(10)
    const young = await open(server.port, 5, text)
    await untilHeld(server, 8)
    await clock.advance(0)
    // A burst has one second.
    await clock.advance(1000)
    await untilHeld(server, 5)
    await until(() => old.every((socket) => socket.readableEnded || socket.destroyed))
    expect(young.some((socket) => socket.readableEnded || socket.destroyed)).toBe(false)
    const exposition = await t.gateway.metrics.text()
    expect(exposition).toContain('gateway_connections_evicted_total{bound="address"} 3')
    expect(exposition).toContain('gateway_connections_pending 5')
  })

  it('in all: the oldest goes at once, and health, readiness and requests are answered all the while', async () => {
    const { server } = await listening({ MAX_CONNECTIONS: '40', MAX_PENDING_CONNECTIONS_PER_ADDRESS: '1000' })
    for (let round = 0; round < 4; round++) {
      await open(server.port, 20)
      for (const path of ['/healthz', '/health/liveliness', '/health/readiness']) {
        const answer = await rawHttp(server.port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`)
        expect(answer).toMatch(/^HTTP\/1\.1 200 /)
      }
      expect((await post(server.url, ask('chat', 'echo/echo-1'), { headers: { connection: 'close' } })).status).toBe(200)
    }
    expect(await held(server)).toBeLessThanOrEqual(21)
  })

  it('a busy connection is never counted: a pool larger than the bound lives through a flood', async () => {
    const { server } = await listening({ MAX_PENDING_CONNECTIONS_PER_ADDRESS: '5', MAX_CONNECTIONS: '100' })
    const body = JSON.stringify(ask('chat', 'echo/echo-1').body)
    const request = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    const pool = await open(server.port, 20)
    const answers = pool.map(collect)
    for (const socket of pool) socket.write(request)
    await until(() => answers.every((answer) => answer().includes('chat.completion')))
    await open(server.port, 60)
    await clock.advance(0)
    await clock.advance(5000)
    await untilHeld(server, 25)
    for (const socket of pool) socket.write(request)
    await until(() => answers.every((answer) => answer().split('HTTP/1.1 200').length === 3))
  })

  it('a burst over the bound whose requests are on the way is served whole', async () => {
    const { server } = await listening({ MAX_PENDING_CONNECTIONS_PER_ADDRESS: '5' })
    const results = await Promise.all(
      Array.from({ length: 100 }, () => post(server.url, ask('chat', 'echo/echo-1'), { headers: { connection: 'close' } })),
    )
    expect(results.every(({ status }) => status === 200)).toBe(true)
  })
})

it('addresses are counted by themselves, IPv6 by /64, and IPv4 in either spelling', () => {
  expect(addressBlock('::ffff:203.0.113.9')).toBe(addressBlock('203.0.113.9'))
  expect(addressBlock('203.0.113.9')).not.toBe(addressBlock('203.0.113.8'))
  expect(addressBlock('2001:db8:1:2::1')).toBe(addressBlock('2001:db8:1:2:ffff::9'))
  expect(addressBlock('2001:db8:1:2::1')).not.toBe(addressBlock('2001:db8:1:3::1'))
  expect(addressBlock('fe80::1%eth0')).toBe(addressBlock('fe80::2%eth0'))
  expect(addressBlock(undefined)).toBe('unknown')
})
