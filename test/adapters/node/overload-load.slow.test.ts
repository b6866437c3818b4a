// Three times the gateway's capacity for some seconds, over real sockets to a separate process.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { folder, serving } from '../cli/hookgate.ts'
import { ask } from './support.ts'

/** Each request costs 4 ms of the event loop, so at most 250 per second can be served. */
const CONFIG = `
import { definePlugin, defineConfig, preset } from 'hookgate'
const costly = definePlugin({
  name: 'costly',
  setup(gateway) {
    gateway.hook('request', () => {
      const until = performance.now() + 4
      while (performance.now() < until);
    })
  },
})
export default defineConfig({ connections: { echo: { provider: 'echo' } }, plugins: [...preset(), costly()] })
`
const SECONDS = 4
const PER_SECOND = 750
/** Open connections, because connections in the kernel's queue do not reach the gateway. */
const POOL = 300

interface Seen {
  status: number
  ms: number
  retryAfter: string | undefined
  text: string
}

it('what is taken is answered in time, the rest is refused, health answers, and memory is bounded', async () => {
  const { port, child, exited } = await serving([], { cwd: folder({ 'gateway.config.mjs': CONFIG }) })
  onTestFinished(() => void child.kill('SIGKILL'))
  const agent = new Agent({ keepAlive: true, maxSockets: POOL, maxFreeSockets: POOL })
  const send = (path: string, body: string | null): Promise<Seen> =>
    new Promise((resolve, reject) => {
      let started = 0
      const headers = body === null ? {} : { 'content-type': 'application/json', 'content-length': body.length }
      const call = request({ port, host: '127.0.0.1', path, agent, method: body === null ? 'GET' : 'POST', headers }, (res) => {
        let text = ''
        res.on('data', (chunk) => {
          text += chunk
        })
        res.on('end', () =>
          resolve({
            status: res.statusCode ?? 0,
            ms: performance.now() - started,
            retryAfter: res.headers['retry-after'],
            text,
          }),
        )
        res.on('error', reject)
      })
      call.on('socket', () => {
        started = performance.now()
      })
      call.on('error', reject)
      call.end(body ?? undefined)
    })
  const { path, body } = ask('chat', 'echo/echo-1')
  const text = JSON.stringify(body)
  const calls: Promise<Seen>[] = []
  const probes: Promise<Seen>[] = []
  await Promise.all(Array.from({ length: POOL }, () => send('/health/liveliness', null)))
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
  child.kill('SIGTERM')
  await exited
  agent.destroy()

  const taken = seen.filter(({ status }) => status === 200)
  const refused = seen.filter(({ status }) => status === 503)
  const p99 = taken.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(taken.length * 0.99)] as number
  if (process.env.SHOW_FIGURES) console.log({ taken: taken.length, refused: refused.length, p99, rss })
  // No accepted request fails.
  expect(taken.length + refused.length).toBe(seen.length)
  for (const { text, retryAfter } of refused) {
    expect(text).toContain('"code":"overloaded"')
    expect(retryAfter).toBe('1')
  }
  expect(refused.length).toBeGreaterThan(0)
  expect(taken.length).toBeGreaterThan(SECONDS * 20)
  expect(p99).toBeLessThan(5000)
  expect(health.every(({ status }) => status === 200)).toBe(true)
  expect(rss).toBeLessThan(700)
}, 40_000)
