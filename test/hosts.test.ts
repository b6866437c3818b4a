// Runs the modules of docs/hosts.md against the same calls.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway } from '../adapters/node/gateway.ts'
import { choose, fail, hang, reply } from '../adapters/testing/script.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../adapters/testing/scripted-upstream.ts'
import type { HostedGateway } from '../core/gateway.ts'
import { silentLog } from '../core/log.ts'
import { hookgateRoot } from './adapters/cli/hookgate.ts'
import { ask, eventually } from './adapters/node/support.ts'
import { readDoc } from './markdown.ts'

const HOSTS = ['node:http', 'Express', 'Fastify', 'Hono', 'h3', 'srvx', 'Koa'] as const
const TEXT = 'one two three '.repeat(40)

/** The upstream's behaviour, by the requested model. */
const STEPS = {
  whole: reply({ text: TEXT, chunk: 20 }),
  slow: reply({ text: TEXT, chunk: 20 }, { everyMs: 20 }),
  silent: hang(),
  limited: fail(429, { headers: { 'retry-after': '7' } }),
  broken: reply({ text: TEXT, chunk: 20 }, { cut: { after: 5, how: 'reset' } }),
}

let upstream: ScriptedUpstream
let scratch: string
beforeAll(async () => {
  upstream = await scriptedUpstream(choose(({ json }) => STEPS[json.model as keyof typeof STEPS]))
  scratch = mkdtempSync(join(hookgateRoot, 'test/scratch-'))
})
afterAll(async () => {
  rmSync(scratch, { recursive: true })
  await upstream.close()
})

/** Returns the first module below the heading, on a free port and with the given gateway. */
function moduleOf(host: string): string {
  const section = readDoc('docs/hosts.md').split(`\n## ${host}\n`)[1]?.split('\n## ')[0] ?? ''
  const code = /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? ''
  expect(code, host).toContain('8788')
  const changed = code
    .replace(/await createGateway\(\{.*\}\)/, 'globalThis.__gateway')
    .replace('8788', '0')
    .replace(`from 'hookgate'`, `from '${join(hookgateRoot, 'adapters/node/index.ts')}'`)
  expect(changed).toContain('globalThis.__gateway')
  return changed
}

async function start(host: string, gateway: HostedGateway): Promise<{ url: string; end(): Promise<void> }> {
  Object.assign(globalThis, { __gateway: gateway })
  const path = join(scratch, `${host.replace(/\W/g, '-')}.ts`)
  writeFileSync(path, moduleOf(host))
  const { server: given } = (await import(path)) as { server: Server & { node?: { server: Server } } }
  const server = given.node?.server ?? given
  if (!server.listening) await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async end() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe.each(HOSTS)('%s', (host) => {
  let gateway: HostedGateway
  let running: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    const up = { provider: 'custom', wireFormat: 'chat', baseUrl: upstream.baseUrl('chat') } as const
    gateway = await createGateway({ connections: { up } }, { log: silentLog })
    running = await start(host, gateway)
  })
  afterAll(async () => {
    await running.end()
    await gateway.close()
  })

  const call = (model: keyof typeof STEPS, stream: boolean, init: RequestInit = {}) => {
    const { path, body } = ask('chat', `up/${model}`, { stream })
    const headers = { 'content-type': 'application/json' }
    return fetch(`${running.url}/llm${path}`, { method: 'POST', headers, body: JSON.stringify(body), ...init })
  }
  const idle = () => eventually(async () => [...gateway.live()].length === 0)

  it('serves its own routes', async () => {
    expect(await (await fetch(running.url)).text()).toBe('Hello')
  })

  it('whole', async () => {
    const response = await call('whole', false)
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect([response.status, choices[0]?.message.content]).toEqual([200, TEXT])
  })

  it('stream', async () => {
    const response = await call('slow', true)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const decoder = new TextDecoder()
    let [pieces, text] = [0, '']
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces++
      text += decoder.decode(chunk, { stream: true })
    }
    expect([...text.matchAll(/"content":"([^"]*)"/g)].map(([, piece]) => piece).join('')).toBe(TEXT)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(pieces).toBeGreaterThan(5)
  })

  it('a client that leaves while it waits ends the call upstream', async () => {
    const left = new AbortController()
    const waiting = call('silent', true, { signal: left.signal }).catch((error: Error) => error.name)
    await eventually(async () => [...gateway.live()].length === 1)
    left.abort()
    expect(await waiting).toBe('AbortError')
    await idle()
  })

  it('a client that leaves in the middle of a stream ends the call upstream', async () => {
    const left = new AbortController()
    const response = await call('slow', true, { signal: left.signal })
    await response.body?.getReader().read()
    left.abort()
    await idle()
  })

  it('a rate limit of the upstream', async () => {
    const response = await call('limited', false)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7'])
    expect(((await response.json()) as { error: { type: string } }).error.type).toBe('rate_limit_error')
  })

  it('an upstream that breaks off', async () => {
    const text = await (await call('broken', true)).text()
    expect(text).toMatch(/"error":\{/)
    expect(text).not.toContain('[DONE]')
  })

  it('a body that is no JSON', async () => {
    const response = await fetch(`${running.url}/llm/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model": ',
    })
    expect(response.status).toBe(400)
    expect(((await response.json()) as { error: { type: string } }).error.type).toBe('invalid_request_error')
  })

  it('an unknown path', async () => {
    const response = await fetch(`${running.url}/llm/v1/unknown`)
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([404, 'unknown_url'])
  })

  it('the control plane', async () => {
    const response = await fetch(`${running.url}/llm/healthz`)
    expect([response.status, ((await response.json()) as { status: string }).status]).toEqual([200, 'ok'])
  })
})
