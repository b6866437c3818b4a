// Uses of a gateway in other servers: any mount path, and requests whose body is finished, locked or read.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { toNodeHandler } from '../../../adapters/node/server/node-handler.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { ask } from './support.ts'

let gateway: HostedGateway
beforeAll(async () => {
  gateway = await createGateway({ connections: { echo: { provider: 'echo' } } }, { log: silentLog })
})
afterAll(() => gateway.close())

const { path, body } = ask('chat', 'echo/echo-1')
const request = (init: RequestInit & { duplex?: 'half' }) => new Request(`http://localhost${path}`, { method: 'POST', ...init })

it.each(['/llm', '/llm/', 'llm'])('a prefix written as %s is that path', async (prefix) => {
  const server = createServer(toNodeHandler(gateway, { prefix }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/llm`
  expect((await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })).status).toBe(200)
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

it('behind a body parser both planes say so: the control plane took the caller for gone', async () => {
  const handler = toNodeHandler(gateway, { peer: () => ({ address: '127.0.0.1', local: true, secure: false }) })
  const server = createServer(async (req, res) => {
    for await (const _chunk of req);
    handler(req, res)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const to of [path, '/api/keys']) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + to, { method: 'POST', body: JSON.stringify(body), headers })
    expect(response.status).toBe(500)
    expect(await response.text()).toContain('before the body parser')
  }
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

describe('fetch', () => {
  it('ends with a request that is aborted while its body comes', async () => {
    const leaving = new AbortController()
    let began = (): void => {}
    const reading = new Promise<void>((resolve) => {
      began = resolve
    })
    const body = new ReadableStream({ pull: () => began() }, { highWaterMark: 0 })
    const answer = gateway.fetch(request({ body, duplex: 'half', signal: leaving.signal }))
    await reading
    leaving.abort()
    expect((await answer).status).toBe(499)
    expect([...gateway.live()]).toEqual([])
  })

  it('says of a body that another reader has what it says of one that was read', async () => {
    const locked = request({ body: JSON.stringify(body) })
    locked.body?.getReader()
    const response = await gateway.fetch(locked)
    expect(response.status).toBe(500)
    expect(await response.text()).toContain('before the body parser')
  })

  it('takes whatever a runtime hands along', async () => {
    for (const along of [null, undefined, 'env', { waitUntil() {} }])
      expect((await gateway.fetch(request({ body: JSON.stringify(body) }), along as never)).status).toBe(200)
  })
})
