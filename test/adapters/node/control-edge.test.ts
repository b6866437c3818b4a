// The control plane on a raw socket: unusual paths, bodies that start slowly, and `Expect`.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway, type TestGateway } from '../../../adapters/testing/test-gateway.ts'
import { collect, openSocket, rawHttp } from './support.ts'

let t: TestGateway
let port: number
beforeAll(async () => {
  t = await createTestGateway()
  port = (await t.listen()).port
})
afterAll(() => t.close())

const request = (line: string, headers = '', body = '') => `${line} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n${body}`
const JSON_TYPE = 'content-type: application/json\r\n'

describe('a path', () => {
  it.each([
    ...['/%61pi/keys', '/api/%6beys', '/api%2fkeys', '/health/../api/keys', '/health/%2e%2E/api/keys', '/./api/keys'],
    ...['/api/keys/.', '/api/keys/..', '/api/keys/%2e', '//api/keys', '/API/keys', '/%6detrics', '/healthz/..'],
  ])('is what it spells: %s is nothing', async (path) => {
    const answer = await rawHttp(port, request(`GET ${path}`, 'connection: close\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 404 /)
    expect(answer).toContain('"code":"unknown_url"')
  })

  it('has parameters that are decoded', async () => {
    const { id } = (await (await t.post('/api/keys', { label: 'k' })).json()) as { id: number }
    const answer = await rawHttp(port, request(`DELETE /api/keys/%3${id}`, 'connection: close\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('a body', () => {
  it('may begin with a byte order mark, as on the data plane', async () => {
    const seen = await t.post('/api/keys', '\ufeff{"label":"marked"}')
    expect([seen.status, ((await seen.json()) as { label: string }).label]).toEqual([201, 'marked'])
  })

  it('that nobody wants is not asked for: 413 and 401 come without `100 Continue`, and end the connection', async () => {
    const huge = request('POST /api/keys', `${JSON_TYPE}expect: 100-continue\r\ncontent-length: 2097153\r\n`)
    const stranger = huge.replace('localhost', 'evil.example').replace('2097153', '2')
    for (const [text, status] of [
      [huge, 413],
      [stranger, 401],
    ] as const) {
      const answer = await rawHttp(port, text)
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
      expect(answer).toMatch(/^connection: close\r$/im)
    }
  })

  it('that is wanted is asked for, and the connection goes on', async () => {
    const socket = await openSocket(port)
    const seen = collect(socket)
    const until = (what: RegExp) =>
      new Promise<void>((resolve) => {
        const look = () => what.test(seen()) && resolve()
        socket.on('data', look)
        look()
      })
    socket.write(request('POST /api/keys', `${JSON_TYPE}expect: 100-continue\r\ncontent-length: 13\r\n`))
    await until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/)
    socket.write('{"label":"x"}')
    await until(/HTTP\/1\.1 201 /)
    socket.write(request('GET /health/liveliness', 'connection: close\r\n'))
    await until(/HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}/)
    socket.destroy()
  })

  it('that is wanted of a client that leaves then: the connection ends', async () => {
    const begun = 'connection: close\r\nexpect: 100-continue\r\ncontent-length: 13\r\n'
    const answer = await rawHttp(port, request('POST /api/keys', JSON_TYPE + begun, '{"label":"x"}'))
    expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 [\s\S]*^connection: close\r$/im)
  })
})
