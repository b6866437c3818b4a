// Four real workers on one address: limits of the whole, one upstream call for equal requests, sockets, and what happens to the workers when
// their primary process drains or dies.
import { execFileSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { folder, type Serving, serving } from '../adapters/cli/hookgate.ts'
import { eventually, until } from '../adapters/node/support.ts'
import { cardServer } from '../support/rate-cards/card-server.ts'

const WORKERS = 4
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 },
})
const CHUNK = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'tok ' }, finish_reason: null }] })}\n\n`

let upstream: Server
let calls = 0
/** The calls that wait for their answer. */
const waiting: (() => void)[] = []
let cwd: string

beforeAll(async () => {
  upstream = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += chunk))
    req.on('end', () => {
      calls++
      if (JSON.parse(body).stream === true) return void res.writeHead(200, { 'content-type': 'text/event-stream' }).write(CHUNK)
      waiting.push(() => res.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const up = {
    provider: 'custom',
    baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/v1`,
    wireFormat: 'chat',
    apiKey: 'sk-workers',
    maxInflight: 5,
  }
  cwd = folder({
    'gateway.config.mjs': `export default { connections: { up: ${JSON.stringify(up)}, echo: { provider: 'echo' } } }\n`,
  })
})
afterAll(() => void upstream.close().closeAllConnections())

async function start(args: string[] = [], env: Record<string, string> = {}): Promise<Serving> {
  const server = await serving(['--workers', String(WORKERS), '--log', 'json', ...args], {
    cwd,
    env: { GATEWAY_DATA_DIR: folder({}), GATEWAY_OVERLOAD_LOOP_DELAY_MS: '0', GATEWAY_DEDUP_TTL_MS: '60000', ...env },
  })
  await until(() => server.stderr().includes('"serve.workers"'), 120_000)
  return server
}

const send = (server: Serving, content: string, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    body: JSON.stringify({ model: 'up/m', messages: [{ role: 'user', content }], ...more }),
  })

/** Processes that the primary started. */
const workersOf = (server: Serving): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(server.child.pid)], { encoding: 'utf8' })
    .trim()
    .split(/\s+/)
    .map(Number)

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const answerAll = (): void => {
  for (const answer of waiting.splice(0)) answer()
}

it('fetch the prices of a start once', { timeout: 120_000 }, async () => {
  const cards = await cardServer()
  const urls = Object.fromEntries(Object.entries(cards.urls).map(([name, url]) => [`GATEWAY_${name}`, url]))
  const server = await start([], { GATEWAY_PRICING_SYNC_ENABLED: 'true', ...urls })
  await until(() => cards.asked.length > 0, 30_000)
  // Each worker would fetch two seconds after it began.
  await sleep(4000)
  expect(cards.asked.length).toBe(1)
  server.child.kill('SIGTERM')
  await server.exited
  await cards.close()
})

it('share limits and equal requests, and drain with an open stream', { timeout: 300_000 }, async () => {
  const server = await start()
  const key = (await (
    await fetch(`${server.url}/api/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ label: 'limited', rate_limit_rpm: 137 }),
    })
  ).json()) as { key: string }
  const headers = { authorization: `Bearer ${key.key}` }
  // Revocations and keys act in every worker within two seconds.
  await eventually(async () => {
    const asked = Array.from({ length: 16 }, () =>
      fetch(`${server.url}/v1/models`, { headers: { ...headers, connection: 'close' } }),
    )
    return (await Promise.all(asked)).every(({ status }) => status === 200)
  })
  const statuses: number[] = []
  for (let round = 0; round < 10; round++)
    statuses.push(
      ...(
        await Promise.all(
          Array.from({ length: 40 }, () => send(server, 'x', { model: 'echo/echo-1', temperature: 0.5 }, headers)),
        )
      ).map(({ status }) => status),
    )
  expect(statuses.filter((status) => status === 200)).toHaveLength(137)
  expect(statuses.filter((status) => status === 429)).toHaveLength(400 - 137)

  // Equal requests at several workers: one upstream call.
  const before = calls
  const equal = Array.from({ length: 24 }, () => send(server, 'the same'))
  await until(() => waiting.length === 1)
  const served = async () => (await (await fetch(`${server.url}/api/live?limit=1`)).json()) as { total: number }
  await eventually(async () => (await served()).total === 24)
  answerAll()
  expect(new Set((await Promise.all(equal)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(calls - before).toBe(1)

  // The in-flight cap of the account, over all workers.
  const many = Array.from({ length: 30 }, (_, i) => send(server, `one of many ${i}`))
  await until(() => waiting.length === 5)
  await eventually(async () => (await served()).total <= 30)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(waiting.length).toBe(5)
  const pump = setInterval(answerAll, 20)
  await Promise.all(many)
  clearInterval(pump)

  const stream = await send(server, 'a stream', { stream: true })
  const text = stream.text()
  await until(() => calls > 0)
  server.child.kill('SIGTERM')
  await until(() => server.stderr().includes('"serve.draining"'))
  upstream.closeAllConnections()
  expect(await text).toContain('tok ')
  expect(await server.exited).toMatchObject({ code: 0 })
})

it('end when their primary dies, and at once on a second signal', { timeout: 300_000 }, async () => {
  const killed = await start()
  const orphans = workersOf(killed)
  expect(orphans).toHaveLength(WORKERS)
  killed.child.kill('SIGKILL')
  await until(() => !orphans.some(lives))

  const server = await start()
  const pids = workersOf(server)
  void send(server, 'never ends', { stream: true })
    .then((response) => response.text())
    .catch(() => {})
  const open = async () => ((await (await fetch(`${server.url}/api/live`)).json()) as { total: number }).total
  await eventually(async () => (await open()) === 1)
  server.child.kill('SIGINT')
  await until(() => server.stderr().includes('"serve.draining"'))
  server.child.kill('SIGINT')
  expect((await server.exited).code).toBe(1)
  await until(() => !pids.some(lives))
})

it('answer on a WebSocket, whichever worker it reaches', { timeout: 300_000 }, async () => {
  const server = await start()
  const talk = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`)
      socket.onopen = () =>
        socket.send(JSON.stringify({ type: 'response.create', model: 'echo/echo-1', input: 'Hello', store: false }))
      socket.onmessage = ({ data }) => {
        const { type } = JSON.parse(String(data)) as { type: string }
        if (type !== 'response.completed' && type !== 'error') return
        socket.close()
        resolve(type)
      }
      socket.onerror = () => reject(new Error('the socket failed'))
    })
  expect(new Set(await Promise.all(Array.from({ length: 12 }, talk)))).toEqual(new Set(['response.completed']))
  server.child.kill('SIGTERM')
  expect((await server.exited).code).toBe(0)
})
