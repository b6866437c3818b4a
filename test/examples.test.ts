// Runs every example as its header describes: it answers, whole and streamed.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createGateway } from '../adapters/node/gateway.ts'
import { loadPlugin } from '../adapters/node/loading/load-plugin.ts'
import { text } from '../adapters/testing/script.ts'
import { scriptedUpstream } from '../adapters/testing/scripted-upstream.ts'
import { preset } from '../plugins/preset.ts'
import { built, hookgate, hookgateRoot, listening, type Serving, serving, start } from './adapters/cli/hookgate.ts'
import { ask, DIALECTS, post, until } from './adapters/node/support.ts'

const JITI = join(hookgateRoot, 'node_modules/jiti/lib/jiti-cli.mjs')
const children: Serving[] = []
afterAll(() => {
  for (const { child } of children) child.kill('SIGKILL')
})

/** Runs `npx jiti examples/<name>.ts` with PORT=0. */
async function run(name: string): Promise<string> {
  await built()
  const child = start([JITI, `examples/${name}.ts`], { env: { PORT: '0' } })
  const server = await listening(child, /^listening on (http:\/\/127\.0\.0\.1:(\d+)\S*)\n/)
  children.push(server)
  return server.url
}

async function answersEverywhere(base: string, model: string, expected: string): Promise<void> {
  for (const dialect of DIALECTS) {
    const whole = await post(base, ask(dialect, model))
    expect(whole.status, dialect).toBe(200)
    expect(await whole.text(), dialect).toContain(expected)
    const streamed = await post(base, ask(dialect, model, { stream: true }))
    expect(streamed.headers.get('content-type'), dialect).toContain('text/event-stream')
    expect(textOf(await streamed.text()), dialect).toContain(expected)
  }
}

/** Returns the text that a reader of the stream gets, in any dialect. */
function textOf(frames: string): string {
  const pieces = frames.matchAll(/"(?:content|text|delta)":("(?:[^"\\]|\\.)*")/g)
  return [...pieces].map(([, text]) => JSON.parse(text as string)).join('')
}

const content = async (response: Response) =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content

// Each starts a process that compiles its imports.
describe('examples', { timeout: 240_000 }, () => {
  // test/recipes runs the recipes.
  it('all of them are run here', () => {
    const names = readdirSync(join(hookgateRoot, 'examples'))
      .filter((name) => name !== 'recipes')
      .map((name) => name.replace('.ts', ''))
    expect(names.sort()).toEqual(
      [
        'config-as-code',
        'costly-requests',
        'custom-plugin',
        'custom-provider',
        'library-in-express',
        'library-in-h3',
        'library-in-node-http',
        'minimal',
        'packages',
        'wasm-filter',
      ].sort(),
    )
  })

  it('minimal', async () => {
    await answersEverywhere(await run('minimal'), 'echo/echo-1', 'Hello there')
  })

  it('packages: a configuration takes the three by path', async () => {
    const upstream = await scriptedUpstream(text('Hello there'))
    const load = (name: string, options?: Record<string, unknown>) =>
      loadPlugin(join(hookgateRoot, 'examples/packages', name, 'index.js'), options)
    const plugins = [
      ...preset(),
      await load('hookgate-plugin-stamp', { deployment: 'blue' }),
      await load('hookgate-plugin-figures'),
      await load('hookgate-provider-small', { baseUrl: upstream.baseUrl('chat') }),
    ]
    const gateway = await createGateway({ plugins, connections: { small: { provider: 'small', apiKey: 'small-key' } } })
    const { path, body } = ask('chat', 'small/m')
    const answer = await gateway.fetch(new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) }), {
      local: true,
    })
    expect([answer.headers.get('x-deployment'), await content(answer)]).toEqual(['blue', 'Hello there'])
    expect(upstream.requests[0]?.headers['x-small-key']).toBe('small-key')
    await gateway.drain(1000)
    const figures = await gateway.fetch(new Request('http://localhost/api/figures'), { local: true })
    expect(await figures.json()).toEqual({ data: [{ model: 'small/m', answers: 1 }] })
    await gateway.close()
    await upstream.close()
  })

  it('library-in-h3: the gateway under /llm, the app’s own routes beside it', async () => {
    const base = await run('library-in-h3')
    await answersEverywhere(base, 'echo/echo-1', 'Hello there')
    expect(await (await fetch(new URL('/', base))).text()).toContain('under /llm')
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
  })

  it('library-in-express: the gateway before the body parser, which works for the app’s own routes', async () => {
    const base = await run('library-in-express')
    await answersEverywhere(base, 'echo/echo-1', 'Hello there')
    const order = await post(new URL('/', base).origin, { path: '/orders', body: { item: 'tea' } })
    expect(await order.json()).toEqual({ ordered: 'tea' })
  })

  it('library-in-node-http: the same, and it decides who is local', async () => {
    const base = await run('library-in-node-http')
    await answersEverywhere(base, 'echo/echo-1', 'Hello there')
    expect(await (await fetch(new URL('/', base))).text()).toContain('under /llm')
  })

  it('custom-plugin: refuses, masks in whole and streamed answers, counts, and gives its places back', async () => {
    const base = await run('custom-plugin')
    await answersEverywhere(base, 'echo/echo-1', 'Hello there')
    const refused = await post(base, ask('chat', 'echo/echo-1', { text: 'my password is' }))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { code: 'guardrail_blocked', message: expect.stringContaining('password') },
    })

    const question = { text: 'What is bluebird, please?' }
    expect(await content(await post(base, ask('chat', 'echo/echo-1', question)))).toBe('What is ████████, please?')
    for (const dialect of DIALECTS) {
      const frames = await (await post(base, ask(dialect, 'echo/echo-1', { ...question, stream: true }))).text()
      expect(frames, dialect).not.toContain('bluebird,')
      expect(textOf(frames), dialect).toContain('What is ████████, please?')
    }
    const metrics = async () => (await fetch(`${base}/metrics`)).text()
    // A slot is released after the request, which is after its last byte.
    await expect.poll(metrics).toContain('gateway_house_rules_running 0')
    expect(await metrics()).toContain('gateway_house_rules_masked_total{stream="false"} 1')
  })

  it('costly-requests: what costs more than the limit is written down with the books, summed over the day, and nothing else', async () => {
    const base = await run('costly-requests')
    const api = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(base + path, { ...init, headers: { 'content-type': 'application/json' } })
      expect(response.status, path).toBe(200)
      return response.json()
    }
    await answersEverywhere(base, 'echo/echo-1', 'Hello there')
    const price = { model: 'echo/*', input: 1000, output: 1000 }
    await api('/api/pricing/overrides', { method: 'PUT', body: JSON.stringify({ data: [price] }) })
    const costs: number[] = []
    for (const text of ['Hi', 'What does it cost to say so much?', 'And how much does it cost to say even more than that?']) {
      const answer = await post(base, ask('chat', 'echo/echo-1', { text }))
      const { usage } = (await answer.json()) as { usage: { total_tokens: number } }
      costs.push(usage.total_tokens / 1000)
    }
    const costly = costs.filter((cost) => cost > 0.01)
    expect(costly).toHaveLength(2)
    await expect.poll(async () => ((await api('/api/costly-requests')) as { data: [] }).data.length).toBe(2)
    const { data, today_usd } = (await api('/api/costly-requests')) as { data: { charge_usd: number }[]; today_usd: number }
    expect(data.map(({ charge_usd }) => charge_usd).sort()).toEqual(costly.sort())
    expect(today_usd).toBeCloseTo(
      costly.reduce((sum, cost) => sum + cost, 0),
      9,
    )
  })

  it('custom-provider: a provider as code with its quirks, and a connection that says its wire format', async () => {
    const base = await run('custom-provider')
    await answersEverywhere(base, 'inhouse/any', 'In-house, asked in messages: any')
    await answersEverywhere(base, 'acme/acme-large', 'Acme, at most')
    await answersEverywhere(base, 'acme-ai/acme-large', 'Acme, at most')
    const { path, body } = ask('chat', 'acme/acme-large')
    expect(await content(await post(base, { path, body: { ...body, max_completion_tokens: 50 } }))).toBe(
      'Acme, at most 50 tokens',
    )
  })

  it('wasm-filter: refuses requests that contain the word, as its README says', async () => {
    const args = ['filter', 'test', 'examples/wasm-filter/filter.wasm', '--config', 'word=heron', '--limit-ms', '20000', '--json']
    const { code, stdout, stderr } = await hookgate(args, { cwd: hookgateRoot })
    expect(code, stderr).toBe(0)
    const { rows } = JSON.parse(stdout) as { rows: { action: string }[] }
    expect(rows.map(({ action }) => action)).toEqual(['deny', 'deny', 'deny', 'deny'])
  })

  it('config-as-code: references to secrets, a plugin beside the file, a pinned setting, options', async () => {
    const env = { OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-ant' }
    const args = ['--config', 'examples/config-as-code/gateway.config.ts']
    const server = await serving(args, { env })
    children.push(server)
    await answersEverywhere(server.url, 'echo/echo-1', 'Hello there')
    await until(() => server.stderr().split('"message":"audit"').length > 8)
    expect(server.stderr()).toMatch(
      /"message":"audit","plugin":"audit-trail","team":"search".*"model":"echo\/echo-1","status":200/,
    )

    const withoutKey = serving(args, { env: { OPENAI_API_KEY: 'sk-openai' } })
    await expect(withoutKey).rejects.toThrow(
      /connections\.anthropic\.apiKey: the environment variable ANTHROPIC_API_KEY is not set/,
    )
  })
})
