// An invalid Host is the client's fault, on both planes, and never a name that the gateway accepts.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostName } from '../../../adapters/node/server/host-header.ts'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { ask, DIALECTS, rawHttp } from './support.ts'

let t: TestGateway
let port: number
beforeAll(async () => {
  t = await createTestGateway({ config: { connections: { echo: { provider: 'echo' } } } })
  ;({ port } = await t.listen())
})
afterAll(() => t.close())

const control = (host: string, path = '/healthz') =>
  rawHttp(port, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)

function data(host: string, { path, body } = ask('chat', 'echo/echo-1')): Promise<string> {
  const text = JSON.stringify(body)
  const head = [`POST ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', `content-length: ${text.length}`]
  return rawHttp(port, `${head.join('\r\n')}\r\n\r\n${text}`)
}

const IMPOSSIBLE = [
  'localhost:99999',
  'localhost:65536',
  'localhost:evil.example',
  'localhost:-1',
  'localhost:80:80',
  '127.0.0.1:x',
  '1.2.3.4.5',
  '999.1.1.1',
  '127.0.0.256',
  '1.2.3.4.5:80',
  '[::1]evil.example',
  '[::1',
  '[localhost]',
  '[::1]:99999',
  'localhost/',
  'user@localhost',
  'local host',
  'a%zz.example',
]

describe('a Host that cannot be one', () => {
  it.each(IMPOSSIBLE)('%s is 400 on the control plane', async (host) => {
    expect(await control(host)).toMatch(/^HTTP\/1\.1 400 [\s\S]*invalid_request_error/)
  })

  it.each(IMPOSSIBLE)('%s is 400 on the data plane, in every dialect', async (host) => {
    for (const dialect of DIALECTS) {
      const answer = await data(host, ask(dialect, 'echo/echo-1'))
      expect(answer, dialect).toMatch(/^HTTP\/1\.1 400 /)
      if (dialect === 'messages') expect(answer).toContain('{"type":"error"')
    }
  })

  it.each([
    'localhost',
    'localhost:0',
    'localhost:65535',
    'LOCALHOST:8788',
    '127.0.0.1:1',
    '[::1]:8788',
    'localhost:',
  ])('%s is answered', async (host) => {
    expect(await control(host)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await data(host)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it('whatever is generated, neither plane fails, and only a name it answers to is local', async () => {
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
      return (seed >>> 8) % below
    }
    const pieces = [
      'localhost',
      '127.0.0.1',
      '[::1]',
      'evil.example',
      '.',
      ':',
      '80',
      '99999',
      '1.2',
      '%',
      '@',
      '[',
      ']',
      '-',
      '_',
      ',',
    ]
    for (let round = 0; round < 150; round++) {
      const host = Array.from({ length: 1 + random(4) }, () => pieces[random(pieces.length)]).join('')
      const [open, used] = await Promise.all([control(host), data(host)])
      expect(open, host).toMatch(/^HTTP\/1\.1 (200|400) /)
      expect(used, host).toMatch(/^HTTP\/1\.1 (200|400|401) /)
      if (used.startsWith('HTTP/1.1 200')) expect(host).toMatch(/^(localhost|127\.0\.0\.1|\[::1\])(:\d*)?$/)
      expect(used.startsWith('HTTP/1.1 400'), host).toBe(hostName(host) === null)
    }
  })
})
