import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { serve } from '../../../adapters/node/server/serve.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { silentLog } from '../../../core/log.ts'
import { folder, type Serving, serving } from '../cli/hookgate.ts'
import { ask, collect, DIALECTS, ERROR_FRAME, eventually, openSocket, post, until } from './support.ts'

const CONFIG = `
import { defineConfig } from 'hookgate'
const base = process.env.UPSTREAM
const up = (wireFormat, version) => ({ provider: 'custom', baseUrl: base + '/' + version, wireFormat, apiKey: 'sk-up' })
export default defineConfig({
  connections: {
    echo: { provider: 'echo' },
    chat: up('chat', 'v1'),
    messages: up('messages', 'v1'),
    responses: up('responses', 'v1'),
    generate_content: up('generate_content', 'v1beta'),
  },
})
`

let upstream: ScriptedUpstream
let cwd: string
const started: Serving[] = []

beforeAll(async () => {
  upstream = await scriptedUpstream()
  cwd = folder({ 'gateway.config.ts': CONFIG })
})
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await upstream.close()
})

async function boot(...args: string[]): Promise<Serving> {
  const server = await serving(args, { cwd, env: { UPSTREAM: `http://127.0.0.1:${upstream.port}` } })
  started.push(server)
  return server
}

describe('hookgate serve', () => {
  it('says where it listens in the first line on stdout, and answers there', async () => {
    const { url, child, exited } = await boot()
    expect((await post(url, ask('chat', 'echo/echo-1'))).status).toBe(200)
    child.kill('SIGTERM')
    const { code, stdout } = await exited
    expect(code).toBe(0)
    expect(stdout).toBe(`hookgate listening on ${url}\n`)
  })

  it('on SIGTERM readiness says 503 at once, nobody new gets in, a running stream finishes, and it exits with 0', async () => {
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let pieces = 0
    upstream.script(reply({ text: 'word '.repeat(16), chunk: 5 }, { hold: () => (++pieces > 4 ? released : undefined) }))
    const { url, port, child, exited, stderr } = await boot()
    const probe = await openSocket(port)
    const probed = collect(probe)
    const response = await post(url, ask('chat', 'chat/m', { stream: true }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const decoder = new TextDecoder()
    let text = decoder.decode((await reader.read()).value, { stream: true })

    child.kill('SIGTERM')
    await until(() => stderr().includes('serve.draining'))
    probe.write('GET /health/readiness HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await until(() => probed().includes('draining'))
    expect(probed()).toMatch(/^HTTP\/1\.1 503 /)
    expect(probed()).toMatch(/connection: close/i)
    await expect(fetch(`${url}/health/liveliness`)).rejects.toThrow()

    release()
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      text += decoder.decode(chunk.value, { stream: true })
    expect(text.match(/word /g)).toHaveLength(16)
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
    expect((await exited).code).toBe(0)
  })

  it('a stream that outlives the drain gets its dialect’s error frame, and it still exits with 0', async () => {
    upstream.script(reply({ text: 'never finished '.repeat(9), chunk: 4 }, { stallAfter: 8 }))
    const { url, child, exited } = await boot('--drain-ms', '300')
    const streams = await Promise.all(
      DIALECTS.map(async (dialect) => {
        const response = await post(url, ask(dialect, `${dialect}/m`, { stream: true }))
        return { dialect, status: response.status, text: response.text() }
      }),
    )
    child.kill('SIGTERM')
    for (const { dialect, status, text } of streams) {
      expect(status).toBe(200)
      const frames = await text
      expect(frames, dialect).toMatch(ERROR_FRAME[dialect])
      expect(frames, dialect).toContain('shutting down')
      expect(frames, dialect).not.toContain('[DONE]')
    }
    expect((await exited).code).toBe(0)
  })

  it('SIGHUP loads the file again; one that does not load is logged, and what was good keeps serving', async () => {
    const own = folder({ 'gateway.config.mjs': 'export default { connections: {} }' })
    const server = await serving([], { cwd: own })
    started.push(server)
    const { url, child, stderr } = server
    const status = async () => (await post(url, ask('chat', 'echo/echo-1'))).status
    const reloads = () => stderr().split('config.reloaded').length - 1
    expect(await status()).toBe(400)
    child.kill('SIGHUP')
    await until(() => reloads() >= 1)
    writeFileSync(join(own, 'gateway.config.mjs'), "export default { connections: { echo: { provider: 'echo' } } }")
    child.kill('SIGHUP')
    await eventually(async () => (await status()) === 200)
    writeFileSync(join(own, 'gateway.config.mjs'), 'export default { connections: ')
    child.kill('SIGHUP')
    await until(() => stderr().includes('config.reload_failed'))
    expect(stderr()).toContain('the last good one keeps serving')
    expect(await status()).toBe(200)
    expect(child.exitCode).toBeNull()
  })

  it('a second signal ends it at once', async () => {
    upstream.script(reply({ text: 'never finished '.repeat(9), chunk: 4 }, { stallAfter: 8 }))
    const { url, child, exited, stderr } = await boot()
    const response = await post(url, ask('chat', 'chat/m', { stream: true }))
    child.kill('SIGTERM')
    await until(() => stderr().includes('serve.draining'))
    const at = performance.now()
    child.kill('SIGINT')
    expect((await exited).code).toBe(1)
    // A drain would take thirty seconds.
    expect(performance.now() - at).toBeLessThan(15_000)
    await response.text().catch(() => {})
  })

  it('outlives those who read its output: lines are lost, and nothing else', async () => {
    const { url, child, exited } = await boot()
    child.stdout?.destroy()
    child.stderr?.destroy()
    expect((await post(url, ask('chat', 'echo/echo-1'))).status).toBe(200)
    // The error is a line of the log.
    child.kill('SIGTERM')
    expect((await exited).code).toBe(0)
  })

  it('a port in use is a boot error that says so', async () => {
    const { port } = await boot()
    const second = serving(['--port', String(port)], { cwd, env: { UPSTREAM: 'http://127.0.0.1:1' } })
    await expect(second).rejects.toThrow(/ended with 1[\s\S]*port is in use[\s\S]*hookgate serve --port 0/)
  })
})

describe('serve()', () => {
  it('a variable with a slip in its name is told at the start; others that begin so may be anybody’s', async () => {
    const env = { UPSTREAM: 'http://127.0.0.1:1', GATEWAY_REQUIRE_APIKEY: 'true', GATEWAY_SERVICE_HOST: '10.0.0.1' }
    const server = await serving([], { cwd, env })
    started.push(server)
    server.child.kill('SIGTERM')
    await server.exited
    const told = server
      .stderr()
      .split('\n')
      .filter((line) => line.includes('serve.unread_variable'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('GATEWAY_REQUIRE_APIKEY')
    expect(told[0]).toContain('Did you mean GATEWAY_REQUIRE_API_KEY?')
  })

  it('lets load balancers see the 503 before it stops listening', async () => {
    /** Returns the readiness during the lame-duck time; null when the machine was suspended during it. */
    const seen = async (lameDuckMs: number) => {
      const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } }, { log: silentLog })
      const server = await serve(gateway, { host: '127.0.0.1', port: 0, lameDuckMs })
      const began = performance.now()
      const closing = server.close()
      expect(server.close()).toBe(closing)
      const calls = [fetch(`${server.url}/health/readiness`), post(server.url, ask('chat', 'echo/echo-1'))]
      const [readiness, answer] = await Promise.allSettled(calls)
      const took = performance.now() - began
      await closing
      await expect(fetch(`${server.url}/health/readiness`)).rejects.toThrow()
      if (took >= lameDuckMs) return null
      return [readiness, answer].map((one) => (one?.status === 'fulfilled' ? one.value.status : one?.reason))
    }
    let statuses = await seen(300)
    for (let ms = 1000; statuses === null && ms < 20_000; ms *= 3) statuses = await seen(ms)
    expect(statuses).toEqual([503, 200])
  })

  it('has the limits of a server on a network', async () => {
    const gateway = await createGateway({ connections: { echo: { provider: 'echo' } } }, { log: silentLog })
    const { server, close } = await serve(gateway, { host: '127.0.0.1', port: 0 })
    const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = server
    expect({ headersTimeout, requestTimeout, keepAliveTimeout, maxConnections }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 300_000,
      keepAliveTimeout: 75_000,
      maxConnections: 10_000,
    })
    await close()
  })
})
