// A client keeps one WebSocket at /v1/responses and creates one response after the other on it.
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { type RunningServer, serve } from '../../../adapters/node/server/serve.ts'
import { ResponsesSocket } from '../../../adapters/socket/responses-socket.ts'
import { fakeClock } from '../../../adapters/testing/fake-clock.ts'
import { choose, fail, hang, reply } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import type { HostedGateway } from '../../../core/gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { DIALECTS, rawHttp, until } from './support.ts'

const STEPS = {
  good: reply({ text: 'Good day' }),
  slow: reply({ text: 'one two three '.repeat(40), chunk: 20 }, { everyMs: 20 }),
  silent: hang(),
  limited: fail(429, { headers: { 'retry-after': '7' } }),
  broken: reply({ text: 'one two three '.repeat(40), chunk: 20 }, { everyMs: 20, cut: { after: 5, how: 'reset' } }),
}

interface Message {
  type: string
  status?: number
  error?: { code: string; type: string; param: string | null }
  headers?: Record<string, string>
  response?: { id: string; status: string; output: { content: { text: string }[] }[] }
}

const running: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of running.splice(0).reverse()) await end()
})

interface World {
  gateway: HostedGateway
  server: RunningServer
  upstream: ScriptedUpstream
}

async function world(dialect = 'chat', config: object = {}): Promise<World> {
  const upstream = await scriptedUpstream(choose(({ json, path }) => STEPS[modelIn(json, path)]))
  running.push(() => upstream.close())
  const up = { provider: 'custom', wireFormat: dialect, baseUrl: upstream.baseUrl(dialect as 'chat') }
  const gateway = await createGateway({ connections: { up }, ...config } as object, { log: silentLog })
  const server = await serve(gateway, { host: '127.0.0.1', port: 0, drainMs: 2000 })
  running.push(() => server.close())
  return { gateway, server, upstream }
}

function modelIn(json: Record<string, unknown>, path: string): keyof typeof STEPS {
  const name = typeof json.model === 'string' ? json.model : (/models\/([^:]+)/.exec(path)?.[1] ?? 'good')
  return name as keyof typeof STEPS
}

class Client {
  readonly messages: Message[] = []
  readonly socket: WebSocket
  closed: { code: number } | null = null

  constructor({ server }: Pick<World, 'server'>, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`, { headers })
    this.socket.addEventListener('message', ({ data }) => this.messages.push(JSON.parse(String(data))))
    this.socket.addEventListener('close', ({ code }) => {
      this.closed = { code }
    })
    running.push(async () => this.socket.close())
  }

  async open(): Promise<this> {
    await until(() => this.socket.readyState !== WebSocket.CONNECTING)
    return this
  }

  create(body: object): void {
    this.socket.send(JSON.stringify({ type: 'response.create', ...body }))
  }

  /** Sends and waits for the last message of the run. */
  async turn(body: object): Promise<Message> {
    const before = this.messages.length
    this.create(body)
    return this.last(before)
  }

  async last(before = 0): Promise<Message> {
    const ends = (message: Message) => /^(?:error|response\.(?:completed|failed|incomplete))$/.test(message.type)
    await until(() => this.messages.slice(before).some(ends))
    return this.messages.slice(before).find(ends) as Message
  }
}

const textOf = ({ response }: Message) => response?.output.map(({ content }) => content[0]?.text).join('')

describe.each(DIALECTS)('over an upstream that speaks %s', (dialect) => {
  it('answers turn after turn without a store', async () => {
    const w = await world(dialect)
    const client = await new Client(w).open()
    const first = await client.turn({ model: 'up/good', store: false, input: 'Hello' })
    expect([first.type, textOf(first)]).toEqual(['response.completed', 'Good day'])
    expect(client.messages.map(({ type }) => type)).toContain('response.output_text.delta')
    const second = await client.turn({
      model: 'up/good',
      store: false,
      previous_response_id: first.response?.id,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] }],
    })
    expect(second.type).toBe('response.completed')
    const sent = w.upstream.requests.at(-1)?.text ?? ''
    for (const part of ['Hello', 'Good day', 'And now?']) expect(sent).toContain(part)
    expect(sent).not.toContain('previous_response_id')
  })
})

describe('a socket', () => {
  it('is one log row for each response', async () => {
    const w = await world()
    const client = await new Client(w).open()
    for (let turn = 0; turn < 3; turn++) await client.turn({ model: 'up/good', input: 'Hello' })
    await until(() => [...w.gateway.live()].length === 0)
    const rows = async () => {
      const { data } = (await (await fetch(`${w.server.url}/api/logs`)).json()) as { data: { model: string; status: number }[] }
      return data.map(({ model, status }) => [status, model])
    }
    for (let round = 0; round < 50 && (await rows()).length < 4; round++) await sleep(20)
    const opened = [101, null]
    expect(await rows()).toEqual([[200, 'good'], [200, 'good'], [200, 'good'], opened])
  })

  it('keeps the input of `generate: false` for the next turn, and calls no model for it', async () => {
    const w = await world()
    const client = await new Client(w).open()
    const warm = await client.turn({ model: 'up/good', generate: false, input: 'A long story' })
    expect([warm.type, w.upstream.requests.length]).toEqual(['response.completed', 0])
    await client.turn({ model: 'up/good', previous_response_id: warm.response?.id, input: 'Go on' })
    expect(w.upstream.requests[0]?.text).toContain('A long story')
  })

  it('says in the form of an answer when an upstream refuses, and serves the next turn', async () => {
    const client = await new Client(await world()).open()
    expect(await client.turn({ model: 'up/limited', input: 'Hello' })).toMatchObject({
      type: 'error',
      status: 429,
      error: { type: 'rate_limit_error' },
      headers: { 'retry-after': '7' },
    })
    expect((await client.turn({ model: 'up/good', input: 'Hello' })).type).toBe('response.completed')
  })

  it('ends a run with `response.failed` when its upstream breaks off, and serves the next turn', async () => {
    const client = await new Client(await world()).open()
    expect((await client.turn({ model: 'up/broken', input: 'Hello' })).type).toBe('response.failed')
    expect((await client.turn({ model: 'up/good', input: 'Hello' })).type).toBe('response.completed')
  })

  it('refuses what is no request, and goes on', async () => {
    const client = await new Client(await world()).open()
    const refused = async (send: () => void): Promise<[number | undefined, string | null | undefined]> => {
      const before = client.messages.length
      send()
      await until(() => client.messages.length > before)
      const { status, error } = client.messages[before] as Message
      return [status, error?.code]
    }
    const raw = (text: string | Uint8Array) => () => client.socket.send(text as string)
    expect(await refused(raw('{"type":'))).toEqual([400, 'invalid_json'])
    expect(await refused(raw('[]'))).toEqual([400, 'invalid_json'])
    expect(await refused(raw('null'))).toEqual([400, 'invalid_json'])
    expect(await refused(raw(new Uint8Array([1, 2, 3])))).toEqual([400, 'invalid_message'])
    expect(await refused(raw('{"type":"response.cancel"}'))).toEqual([400, 'invalid_message'])
    expect((await refused(() => client.create({ input: 'no model' })))[0]).toBe(400)
    expect((await refused(() => client.create({ model: 'up/good', input: 'x', previous_response_id: 'resp_unknown' })))[0]).toBe(
      400,
    )
    expect((await client.turn({ model: 'up/good', input: 'Hello' })).type).toBe('response.completed')
  })

  it('runs one response at a time', async () => {
    const client = await new Client(await world()).open()
    client.create({ model: 'up/slow', input: 'one' })
    await until(() => client.messages.length > 0)
    const before = client.messages.length
    client.create({ model: 'up/good', input: 'two' })
    await until(() => client.messages.slice(before).some(({ type }) => type === 'error'))
    expect(client.messages.find(({ type }) => type === 'error')).toMatchObject({
      status: 409,
      error: { code: 'response_already_in_flight' },
    })
    await until(() => client.messages.some(({ type }) => type === 'response.completed'))
  })

  it('that is closed ends its call upstream', async () => {
    const w = await world()
    const client = await new Client(w).open()
    client.create({ model: 'up/silent', input: 'Hello' })
    await until(() => w.upstream.requests.length === 1)
    client.socket.close()
    await until(() => w.upstream.requests[0]?.abortedAt !== null, 1000)
  })

  it('is closed after its response when the server drains', async () => {
    const w = await world()
    const [busy, idle] = [await new Client(w).open(), await new Client(w).open()]
    busy.create({ model: 'up/slow', input: 'Hello' })
    await until(() => busy.messages.length > 0)
    const closing = w.server.close()
    expect((await busy.last()).type).toBe('response.completed')
    await closing
    await until(() => busy.closed !== null && idle.closed !== null)
    expect([busy.closed?.code, idle.closed?.code]).toEqual([1001, 1001])
  })
})

describe('who may open one', () => {
  const KEY = 'socket-client-key-0123456789'
  const keyed = () =>
    world('chat', { keys: { app: { secret: KEY, allowedModels: ['up/good'] } }, options: { requireApiKey: true } })

  it('needs a key where a key is needed; each response is checked again', async () => {
    const w = await keyed()
    const without = await rawHttp(w.server.port, upgrade('/v1/responses'))
    expect(without).toMatch(/^HTTP\/1\.1 401 [\s\S]*invalid_api_key/)
    const client = await new Client(w, { authorization: `Bearer ${KEY}` }).open()
    expect((await client.turn({ model: 'up/good', input: 'Hello' })).type).toBe('response.completed')
    expect(await client.turn({ model: 'up/slow', input: 'Hello' })).toMatchObject({ type: 'error', status: 403 })
    await w.gateway.reload({ connections: {}, options: { requireApiKey: true } })
    expect(await client.turn({ model: 'up/good', input: 'Hello' })).toMatchObject({ type: 'error', status: 401 })
    await until(() => client.closed !== null)
    expect(client.closed?.code).toBe(1008)
  })

  it('a page of another site may not, nor a request with so many headers that Node drops some', async () => {
    const { server } = await world()
    const page = upgrade('/v1/responses').replace('\r\n\r\n', '\r\norigin: https://evil.example\r\n\r\n')
    expect(await rawHttp(server.port, page)).toMatch(/^HTTP\/1\.1 401 /)
    const many = Array.from({ length: 100 }, (_, index) => `x-${index}: 1\r\n`).join('')
    const lines = upgrade('/v1/responses').replace('\r\n\r\n', `\r\n${many}x-forwarded-for: 203.0.113.9\r\n\r\n`)
    expect(await rawHttp(server.port, lines)).toMatch(/^HTTP\/1\.1 431 [\s\S]*too_many_headers/)
  })

  it('other paths do not become sockets', async () => {
    const { server } = await world()
    expect(await rawHttp(server.port, upgrade('/v1/chat/completions'))).toMatch(/^HTTP\/1\.1 426 [\s\S]*websocket_not_supported/)
    expect(await rawHttp(server.port, upgrade('/api/keys'))).toMatch(/^HTTP\/1\.1 404 /)
    expect((await fetch(`${server.url}/v1/responses`)).status).toBe(405)
  })

  it('a request that offers HTTP/2 is an ordinary request', async () => {
    const { server } = await world()
    const h2c = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'
    const body = JSON.stringify({ model: 'up/good', input: 'Hello' })
    const head = `POST /v1/responses HTTP/1.1\r\nhost: localhost\r\n${h2c}content-length: ${body.length}\r\n\r\n`
    expect(await rawHttp(server.port, head + body, 1000)).toMatch(/^HTTP\/1\.1 200 [\s\S]*Good day/)
  })
})

describe('the time of a socket', () => {
  it('ends after 60 minutes, after the response that runs', async () => {
    const clock = fakeClock()
    const sent: string[] = []
    const closes: number[] = []
    let settle = (): void => {}
    const line = {
      send: (text: string) => sent.push(text) > 0,
      drained: async () => {},
      close: (code: number) => closes.push(code),
    }
    const gateway = { handle: () => new Promise<null>((resolve) => (settle = () => resolve(null))) }
    const socket = new ResponsesSocket(gateway, clock, line, {
      headers: [],
      query: '',
      peer: { address: null, local: true, secure: false },
    })
    const run = socket.message('{"type":"response.create","model":"m","input":"x"}')
    await clock.advance(61 * 60_000)
    expect(closes).toEqual([])
    settle()
    await run
    expect(sent.at(-1)).toContain('websocket_connection_limit_reached')
    expect(closes).toEqual([1000])
  })
})

function upgrade(path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
}
