// Three times the gateway's capacity from clients that open a connection for each request, over real sockets to a separate process.
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { folder, serving } from '../cli/hookgate.ts'
import { ask } from './support.ts'

/** Each request costs 20 ms of the event loop, so at most 50 per second can be served. */
const CONFIG = `
import { definePlugin, defineConfig, preset } from 'hookgate'
const costly = definePlugin({
  name: 'costly',
  setup(gateway) {
    gateway.hook('request', () => {
      const until = performance.now() + 20
      while (performance.now() < until);
    })
  },
})
export default defineConfig({ connections: { echo: { provider: 'echo' } }, plugins: [...preset(), costly()] })
`
const SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 8)
const PER_SECOND = 150

interface Seen {
  status: number
  /** From the start of the connection to the end of the answer. */
  ms: number
  retryAfter: string | undefined
  text: string
}

it('callers that dial for each request are answered or refused in time, health answers, and memory is bounded', async () => {
  const { port, child, exited } = await serving([], { cwd: folder({ 'gateway.config.mjs': CONFIG }) })
  onTestFinished(() => void child.kill('SIGKILL'))
  const send = (path: string, body: string | null): Promise<Seen> =>
    new Promise((resolve) => {
      const started = performance.now()
      const done = (status: number, text: string, retryAfter?: string): void =>
        resolve({ status, text, retryAfter, ms: performance.now() - started })
      const headers = body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }
      const to = { port, host: '127.0.0.1', path, agent: false as const, method: body === null ? 'GET' : 'POST', headers }
      const call = request(to, (res) => {
        let text = ''
        res.on('data', (chunk) => {
          text += chunk
        })
        res.on('end', () => done(res.statusCode ?? 0, text, res.headers['retry-after']))
        res.on('error', (error) => done(0, String(error)))
      })
      call.on('error', (error) => done(0, String(error)))
      call.end(body ?? undefined)
    })
  const { path, body } = ask('chat', 'echo/echo-1')
  const text = JSON.stringify(body)
  const calls: Promise<Seen>[] = []
  const probes: Promise<Seen>[] = []
  const started = performance.now()
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = (performance.now() - started) / 1000
      while (calls.length < Math.min(elapsed, SECONDS) * PER_SECOND) calls.push(send(path, text))
      if (probes.length < elapsed * 5) probes.push(send('/health/readiness', null))
      if (elapsed < SECONDS) return
      clearInterval(timer)
      resolve()
    }, 5)
  })
  const seen = await Promise.all(calls)
  const rss = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
  const health = await Promise.all(probes)
  const shed = Number(/requests_shed_total\{class="interactive"\} (\d+)/.exec((await send('/metrics', null)).text)?.[1])
  child.kill('SIGTERM')
  await exited

  const taken = seen.filter(({ status }) => status === 200)
  const refused = seen.filter(({ status }) => status === 503)
  const p99 = (of: readonly Seen[]): number =>
    of.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(of.length * 0.99)] as number
  const figures = {
    taken: taken.length,
    refused: refused.length,
    shed,
    rss,
    p99: p99(taken),
    p99Refused: p99(refused),
    p99Health: p99(health),
  }
  if (process.env.SHOW_FIGURES) console.log(figures)
  // No accepted request fails, and no connection.
  expect(taken.length + refused.length).toBe(seen.length)
  for (const { text, retryAfter } of refused) {
    expect(text).toContain('"code":"overloaded"')
    expect(retryAfter).toBe('1')
  }
  expect(shed).toBe(refused.length)
  expect(taken.length).toBeGreaterThan(SECONDS * 4)
  expect(p99(taken)).toBeLessThan(5000)
  expect(p99(refused)).toBeLessThan(5000)
  expect(health.every(({ status }) => status === 200)).toBe(true)
  expect(p99(health)).toBeLessThan(5000)
  expect(rss).toBeLessThan(700)
}, 120_000)
