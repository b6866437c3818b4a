import type { IncomingMessage } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { peerOf, peerRules } from '../../../adapters/node/server/local-peer.ts'
import { type RunningServer, serve } from '../../../adapters/node/server/serve.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { ask, DIALECTS, post, rawHttp } from './support.ts'

let gateway: HostedGateway
let server: RunningServer

beforeAll(async () => {
  gateway = await createGateway({ connections: { echo: { provider: 'echo' } } }, { log: silentLog })
  server = await serve(gateway, { host: '127.0.0.1', port: 0, publicUrl: 'https://ai.example.com' })
})
afterAll(() => server.close())

/** Sends a POST with exactly these header lines and the framing ones. */
function send(lines: readonly string[], { path, body } = ask('chat', 'echo/echo-1'), target = path): Promise<string> {
  const text = JSON.stringify(body)
  const head = [`POST ${target} HTTP/1.1`, ...lines, 'connection: close', `content-length: ${text.length}`]
  return rawHttp(server.port, `${head.join('\r\n')}\r\n\r\n${text}`)
}

describe('anonymous data-plane calls are for local clients', () => {
  it.each([
    ['localhost', ['host: localhost:8788']],
    ['the loopback address', ['host: 127.0.0.1']],
    ['the IPv6 loopback address', ['host: [::1]:8788']],
    ['any case', ['host: LocalHost']],
    ['the host of PUBLIC_URL', ['host: ai.example.com']],
    ['a page of this machine', ['host: localhost', 'origin: http://localhost:3000', 'sec-fetch-site: same-site']],
  ])('%s is answered', async (_what, lines) => {
    expect(await send(lines)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each([
    ['a Host we do not answer to (DNS rebinding)', ['host: evil.example']],
    ['a Host that only begins like ours', ['host: localhost.evil.example']],
    ['no Host that can be trusted: two of them', ['host: localhost', 'host: evil.example']],
    ['a page of another site', ['host: localhost', 'sec-fetch-site: cross-site']],
    ['an Origin of another site', ['host: localhost', 'origin: https://evil.example']],
    ['an opaque Origin', ['host: localhost', 'origin: null']],
    ['X-Forwarded-For: a proxy stands in between', ['host: localhost', 'x-forwarded-for: 203.0.113.9']],
    ['Forwarded', ['host: localhost', 'forwarded: for=203.0.113.9']],
    ['Via', ['host: localhost', 'via: 1.1 proxy']],
    ...[
      'x-real-ip',
      'cf-connecting-ip',
      'true-client-ip',
      'x-cluster-client-ip',
      'x-original-forwarded-for',
      'fly-client-ip',
      'x-azure-clientip',
      'X-Envoy-External-Address',
      'x-forwarded-port',
      'x-client-ip',
    ].map((name): [string, string[]] => [`${name}, as a proxy writes it`, ['host: localhost', `${name}: 203.0.113.9`]]),
    ['one of them without a value', ['host: localhost', 'cf-connecting-ip:']],
  ])('%s gets 401 in every dialect', async (_what, lines) => {
    for (const dialect of DIALECTS) {
      const answer = await send(lines, ask(dialect, 'echo/echo-1'))
      expect(answer, dialect).toMatch(/^HTTP\/1\.1 401 /)
      expect(answer, dialect).toContain('authentication_error')
    }
  })

  it('the 401 says what to do', async () => {
    expect(await send(['host: evil.example'])).toMatch(/local clients only.*GATEWAY_PUBLIC_URL.*Authorization: Bearer/)
  })

  it('an absolute-form target is judged by its own authority', async () => {
    const { path, body } = ask('chat', 'echo/echo-1')
    expect(await send(['host: localhost'], { path, body }, `http://localhost${path}`)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await send(['host: localhost'], { path, body }, `http://evil.example${path}`)).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('a forwarding header cannot hide behind a hundred others', async () => {
    const padding = Array.from({ length: 120 }, (_, i) => `x-${i}: y`)
    expect(await send(['host: localhost', ...padding, 'x-forwarded-for: 203.0.113.9'])).toMatch(/^HTTP\/1\.1 431 /)
  })

  it('health stays open to everyone', async () => {
    const answer = await rawHttp(server.port, 'GET /healthz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('a peer that is not on the loopback interface is not local, whatever it says', () => {
    const request = (remoteAddress: string) =>
      ({
        socket: { remoteAddress },
        headers: { host: 'localhost' },
        rawHeaders: ['Host', 'localhost'],
        url: '/',
      }) as unknown as IncomingMessage
    const rules = peerRules('0.0.0.0', null)
    const local = ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']
    const remote = ['10.0.0.5', '192.168.1.1', 'fe80::1', '::ffff:10.0.0.5']
    expect(local.map((address) => peerOf(request(address), rules).local)).toEqual([true, true, true, true])
    expect(remote.map((address) => peerOf(request(address), rules).local)).toEqual([false, false, false, false])
  })

  const outside = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  it.runIf(outside !== undefined)('the same over a real network interface of this machine', async () => {
    const open = await createGateway({ connections: { echo: { provider: 'echo' } } }, { log: silentLog })
    const everywhere = await serve(open, { host: '0.0.0.0', port: 0 })
    const { path, body } = ask('chat', 'echo/echo-1')
    const base = `http://${outside?.address}:${everywhere.port}`
    const response = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
    expect(response.status).toBe(401)
    expect(
      (await fetch(`http://127.0.0.1:${everywhere.port}${path}`, { method: 'POST', body: JSON.stringify(body) })).status,
    ).toBe(200)
    await everywhere.close()
  })
})

it('GATEWAY_REQUIRE_API_KEY refuses anonymous local calls too', async () => {
  const strict = await createGateway(
    { connections: { echo: { provider: 'echo' } } },
    { log: silentLog, env: { GATEWAY_REQUIRE_API_KEY: 'true' } },
  )
  const { url, close } = await serve(strict, { host: '127.0.0.1', port: 0 })
  expect((await post(url, ask('chat', 'echo/echo-1'))).status).toBe(401)
  await close()
})

describe('an embedding server decides for itself', () => {
  it('who says nothing about the peer gets anonymous calls answered', async () => {
    const { path, body } = ask('chat', 'echo/echo-1')
    const request = new Request(`https://app.example${path}`, { method: 'POST', body: JSON.stringify(body) })
    expect((await gateway.fetch(request)).status).toBe(200)
  })

  it('who says that the peer is not local gets the same 401', async () => {
    const { path, body } = ask('messages', 'echo/echo-1')
    const request = new Request(`https://app.example${path}`, { method: 'POST', body: JSON.stringify(body) })
    const response = await gateway.fetch(request, { local: false })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
  })
})
