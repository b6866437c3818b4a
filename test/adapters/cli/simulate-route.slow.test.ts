// POST /api/simulate of a served gateway says what `hookgate simulate --json` prints, byte for byte.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Simulator } from '../../../core/types/ports/simulation.ts'
import { built, folder, hookgate, hookgateRoot, type Serving, serving } from './hookgate.ts'

const CONFIG = `
import { defineConfig, secret } from 'hookgate'

export default defineConfig({
  connections: {
    main: { provider: 'openai', apiKey: secret.env('KEY_OF_MAIN') },
    spare: { provider: 'openai', apiKey: secret.env('KEY_OF_SPARE') },
    claude: { provider: 'anthropic', apiKey: secret.env('KEY_OF_CLAUDE') },
  },
  virtualModels: { coder: { strategy: 'failover', targets: ['openai/gpt-4.1', 'anthropic/claude-sonnet-4-5'] } },
})
`
const SCRIPT = [
  { at: '0s', model: 'coder', count: 4, every: '10s' },
  { at: '5s', upstream: 'openai/main', answer: { status: 429, retry_after: 15, latency_ms: 200 } },
  { at: '15s', upstream: 'openai', answer: { status: 0, latency_ms: 50 } },
]
const LINES = SCRIPT.map((line) => JSON.stringify(line)).join('\n')

let cwd: string
let server: Serving
beforeAll(async () => {
  await built()
  cwd = folder({ 'gateway.config.ts': CONFIG, 'day.jsonl': LINES })
  const keys = { KEY_OF_MAIN: 'sk-a', KEY_OF_SPARE: 'sk-b', KEY_OF_CLAUDE: 'sk-c' }
  server = await serving([], { cwd, env: { GATEWAY_DATA_DIR: cwd, ...keys } })
}, 60_000)
afterAll(async () => {
  server.child.kill('SIGTERM')
  await server.exited
})

const ask = (body: object) =>
  fetch(`${server.url}/api/simulate`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
const refused = async (body: object) => {
  const response = await ask(body)
  const { error } = (await response.json()) as { error: { param: string | null; code: string | null; message: string } }
  return { status: response.status, ...error }
}

describe('/api/simulate', () => {
  it('answers as the command line prints, from text and from a list', async () => {
    const { code, stdout } = await hookgate(['simulate', 'day.jsonl', '--json'], { cwd })
    expect(code).toBe(0)
    for (const script of [LINES, SCRIPT]) {
      const response = await ask({ script })
      expect(await response.text()).toBe(stdout)
      expect(response.headers.get('content-type')).toMatch(/^application\/x-ndjson/)
    }
  }, 60_000)

  it('takes a draft in place of the virtual model with its name', async () => {
    const draft = { name: 'coder', strategy: 'failover', targets: ['anthropic/claude-sonnet-4-5'] }
    const lines = (await (await ask({ script: SCRIPT, draft })).text()).trim().split('\n')
    const { attempts } = JSON.parse(lines[0] as string) as { attempts: { connection: string }[] }
    expect(attempts.map(({ connection }) => connection)).toEqual(['anthropic/claude'])
    expect((await ask({ script: [{ model: 'fresh' }], draft: { ...draft, name: 'fresh' } })).status).toBe(200)
  }, 60_000)

  it('refuses a wrong script and draft by name, more requests than it takes, and a second run beside the first', async () => {
    expect(await refused({ script: '{"at":"0s"}' })).toMatchObject({
      status: 400,
      param: 'script',
      message: expect.stringMatching(/^Line 1/),
    })
    expect(await refused({ script: [{ at: '0s', model: 'coder', count: 10_001 }] })).toMatchObject({
      status: 400,
      param: 'script',
    })
    expect(await refused({ script: [{ model: 'coder' }, { upstream: 'nowhere', answer: {} }] })).toMatchObject({
      status: 400,
      param: 'script',
    })
    const draft = { name: 'coder', strategy: 'fusion', targets: ['openai/gpt-4.1'] }
    expect(await refused({ script: SCRIPT, draft })).toMatchObject({ status: 400, param: 'draft.targets' })
    const [first, second] = await Promise.all([ask({ script: SCRIPT }), ask({ script: SCRIPT })])
    const statuses = [first.status, second.status].sort()
    expect(statuses).toEqual([200, 429])
    expect((first.status === 429 ? first : second).headers.get('retry-after')).toBe('5')
    expect((await ask({ script: SCRIPT })).status).toBe(200)
  }, 60_000)

  it('ends a run that takes too long', async () => {
    const path = join(hookgateRoot, 'dist/adapters/node/simulation/simulate-thread.js')
    const { simulator } = (await import(path)) as { simulator: (path: string, env: object, runMs: number) => Simulator }
    const endless = JSON.stringify({ model: 'coder', count: 10_000 })
    const run = simulator(join(cwd, 'gateway.config.ts'), {}, 10)
    const outcome = await run({ script: endless, maxRequests: 10_000, virtualModel: null })
    expect(outcome).toEqual({ fault: 'time', message: 'The simulation takes longer than 0.01 s.' })
  }, 60_000)
})
