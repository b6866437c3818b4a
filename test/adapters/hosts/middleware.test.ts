// Runs behind the middleware that express servers have: whole answers, streams, and clients that leave.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import compression from 'compression'
import cors from 'cors'
import express, { type RequestHandler } from 'express'
import session from 'express-session'
import helmet from 'helmet'
import morgan from 'morgan'
import responseTime from 'response-time'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { toNodeHandler } from '../../../adapters/node/server/node-handler.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { ask, eventually } from '../node/support.ts'

const TEXT = 'a word and another one '.repeat(200)

/** Ends each answer after a delay, as session stores do. */
const slowStore = session({ secret: 'test', resave: true, saveUninitialized: true, rolling: true })

const MIDDLEWARE: Record<string, RequestHandler[]> = {
  compression: [compression({ threshold: 0 }) as RequestHandler],
  'express-session': [slowStore as RequestHandler],
  helmet: [helmet() as RequestHandler],
  cors: [cors() as RequestHandler],
  morgan: [morgan('tiny', { stream: { write: () => {} } }) as RequestHandler],
  'response-time': [responseTime() as RequestHandler],
}
MIDDLEWARE['all of them'] = Object.values(MIDDLEWARE).flat()

let upstream: ScriptedUpstream
let gateway: HostedGateway
beforeAll(async () => {
  upstream = await scriptedUpstream(reply({ text: TEXT, chunk: 40 }, { everyMs: 1 }))
  const up = { provider: 'custom', wireFormat: 'chat', baseUrl: upstream.baseUrl('chat') } as const
  gateway = await createGateway({ connections: { up } }, { log: silentLog })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function hosted(middleware: readonly RequestHandler[]): Promise<string> {
  const app = express()
  for (const handler of middleware) app.use(handler)
  app.use('/llm', toNodeHandler(gateway))
  server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/llm`
}

function call(base: string, stream: boolean, init: RequestInit = {}): Promise<Response> {
  const { path, body } = ask('chat', 'up/m', { stream })
  const headers = { 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  return fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body), ...init })
}

describe.each(Object.entries(MIDDLEWARE))('behind %s', (name, middleware) => {
  it('a whole answer is whole', async () => {
    const response = await call(await hosted(middleware), false)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^req_/)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).toBe(TEXT)
    if (name === 'compression') expect(response.headers.get('content-encoding')).toBe('gzip')
    if (name === 'express-session') expect(response.headers.get('set-cookie')).toMatch(/connect\.sid/)
  })

  it('a stream arrives in pieces, and whole', async () => {
    const response = await call(await hosted(middleware), true)
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('content-encoding')).toBeNull()
    let pieces = 0
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces++
      text += decoder.decode(chunk, { stream: true })
    }
    expect(text.match(/and another/g)?.length ?? 0).toBeGreaterThan(100)
    expect(text.endsWith('[DONE]\n\n')).toBe(true)
    expect(pieces).toBeGreaterThan(3)
  })

  it('a refusal is whole', async () => {
    const response = await fetch(`${await hosted(middleware)}/v1/chat/completions`, { method: 'POST', body: '{' })
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: { type: string } }).error.type).toBe('invalid_request_error')
  })

  it('a client that leaves ends the call of its upstream', async () => {
    const base = await hosted(middleware)
    const before = [...gateway.live()].length
    const left = new AbortController()
    const response = await call(base, true, { signal: left.signal })
    const reader = response.body?.getReader()
    await reader?.read()
    left.abort()
    await reader?.read().catch(() => {})
    await eventually(async () => [...gateway.live()].length === before)
  })

  it('serves the next request of the same connection', async () => {
    const base = await hosted(middleware)
    for (const stream of [false, true, false]) expect((await (await call(base, stream)).text()).length).toBeGreaterThan(1000)
  })
})
