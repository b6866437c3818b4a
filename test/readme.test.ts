// README is run: its requests, its SDK snippets, its library call and its plugin, against a server as `npm start` starts it.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestGateway } from '../adapters/testing/test-gateway.ts'
import { folder, hookgateRoot, type Serving, serving, start } from './adapters/cli/hookgate.ts'
import { ask, eventually, post, until } from './adapters/node/support.ts'
import { type Block, blocks, curlRequest, inScratch, runModule } from './markdown.ts'
import { freePort } from './support/free-port.ts'

const JITI = join(hookgateRoot, 'node_modules/jiti/lib/jiti-cli.mjs')
const ADDRESS = 'http://127.0.0.1:8788'
const curls = blocks('README.md', 'sh').filter(({ code }) => code.startsWith('curl'))
const snippets = blocks('README.md', 'ts')
const snippet = (word: string) => snippets.find(({ code }) => code.includes(word)) as Block

let server: Serving
beforeAll(async () => {
  server = await serving([])
})
afterAll(() => {
  server.child.kill('SIGKILL')
})

describe('README', { timeout: 240_000 }, () => {
  it.each(
    curls.map(({ code }) => [curlRequest(code).url.replace(ADDRESS, ''), code]),
  )('the request to %s is answered', async (_path, code) => {
    const { url, init } = curlRequest(code)
    const response = await fetch(url.replace(ADDRESS, server.url), init)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain('Hello')
    if (code.includes('"stream": true')) expect(text).toMatch(/^event: message_start\n[\s\S]*event: message_stop\n/)
  })

  it('has a first request for each dialect', () => {
    expect(new Set(curls.map(({ code }) => new URL(curlRequest(code).url).pathname))).toEqual(
      new Set(['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1beta/models/echo/echo-1:generateContent']),
    )
  })

  it.each(['openai', '@anthropic-ai/sdk', '@google/genai'])('the snippet for %s prints the answer', async (name) => {
    const { code, stdout, stderr } = await runModule(snippet(`from '${name}'`).code.replaceAll(ADDRESS, server.url))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.trim()).toMatch(/^Hello from the \w+ SDK$/)
  })

  it('the library call answers without a server', async () => {
    const { stdout } = await runModule(snippet('gateway.fetch').code)
    expect(JSON.parse(stdout)).toMatchObject({ object: 'response', status: 'completed' })
    expect(stdout).toContain('Hello, library')
  })

  it('the first plugin refuses and logs', async () => {
    const { code } = snippet('houseRules')
    expect(code.slice(code.indexOf('const houseRules'), code.indexOf('\n})\n')).split('\n').length).toBeLessThanOrEqual(15)
    const own = await serving([], { cwd: folder({ 'gateway.config.ts': code }) })
    const refused = await post(own.url, ask('messages', 'echo/some-preview'))
    expect(refused.status).toBe(403)
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: { type: 'permission_error', message: 'No preview models here.' },
    })
    expect((await post(own.url, ask('chat', 'echo/echo-1'))).status).toBe(200)
    await until(() => /"message":"done".*"model":"echo\/echo-1","status":200,"tokens":\d+/.test(own.stderr()))
    own.child.kill('SIGKILL')
  })

  it('the configuration with real providers loads', async () => {
    const { code } = snippet('OPENAI_API_KEY')
    const keys = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GOOGLE_API_KEY: 'c' }
    const own = await serving([], { cwd: folder({ 'gateway.config.ts': code }), env: keys })
    expect((await fetch(`${own.url}/health/readiness`)).status).toBe(200)
    own.child.kill('SIGKILL')
  })
})

describe('docs/webhooks.md', { timeout: 240_000 }, () => {
  it('the receiver takes what the gateway signs, once an event, and nothing else', async () => {
    const receiver = blocks('docs/webhooks.md', 'ts').find(({ code }) => code.includes('standardwebhooks')) as Block
    const port = await freePort()
    const forwarded: { headers: Record<string, string>; body: string }[] = []
    const forward = async ({ headers, body }: { headers: Record<string, string>; body: string }) =>
      fetch(`http://127.0.0.1:${port}/in`, { method: 'POST', headers, body })
    const t = await createTestGateway({
      ports: {
        // The name of the endpoint leads outside; here it leads to the receiver.
        async outboundPost({ headers, body }) {
          forwarded.push({ headers: { ...headers }, body })
          return { status: (await forward({ headers: { ...headers }, body })).status }
        },
      },
    })
    const call = async (path: string, body: object) => (await (await t.post(path, body)).json()) as Record<string, string>
    const { id, secret } = await call('/api/webhooks/endpoints', { url: 'https://hooks.example.com/in' })
    await inScratch({ 'receiver.ts': receiver.code }, async (path) => {
      const env = { WEBHOOK_SECRET: secret as string, PORT: String(port) }
      const child = start([JITI, join(path, 'receiver.ts')], { env })
      let printed = ''
      child.stdout?.on('data', (chunk) => {
        printed += chunk
      })
      await eventually(() =>
        fetch(`http://127.0.0.1:${port}`)
          .then(() => true)
          .catch(() => false),
      )
      expect(await call(`/api/webhooks/endpoints/${id}/test`, {})).toMatchObject({ status: 'delivered', last_status: 204 })
      const [sent] = forwarded as [{ headers: Record<string, string>; body: string }]
      expect((await forward(sent)).status).toBe(204)
      expect((await forward({ ...sent, body: `${sent.body} ` })).status).toBe(401)
      await until(() => printed.endsWith('\n'))
      expect(printed).toMatch(/^webhook\.test evt_\S+\n$/)
      const ended = new Promise((resolve) => child.on('close', resolve))
      child.kill('SIGKILL')
      await ended
    })
    await t.close()
  })
})

describe('docs/plugins/testing.md', { timeout: 240_000 }, () => {
  it('the test of a plugin runs as it stands there', async () => {
    const example = blocks('docs/plugins/testing.md', 'ts').find(({ code }) => code.includes('createTestGateway')) as Block
    expect(await runModule(example.code)).toEqual({ code: 0, stdout: '503 200\n', stderr: '' })
  })
})
