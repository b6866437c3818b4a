// `hookgate simulate`: the effect of a configuration on requests and failures, without real calls.
import { describe, expect, it } from 'vitest'
import type { RequestLine, SummaryLine } from '../../../adapters/simulation/lines.ts'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

const CONFIG = `
import { defineConfig, secret } from 'hookgate'

export default defineConfig({
  connections: {
    main: { provider: 'openai', apiKey: secret.env('KEY_THAT_IS_NOT_SET') },
    spare: { provider: 'openai', apiKey: secret.env('ANOTHER_KEY_THAT_IS_NOT_SET'), proxyUrl: secret.env('NO_PROXY_URL') },
    claude: { provider: 'anthropic', apiKey: secret.file('nowhere.key') },
  },
  virtualModels: { coder: { strategy: 'failover', targets: ['openai/gpt-4.1', 'anthropic/claude-sonnet-4-5'] } },
})
`

interface Ran {
  requests: RequestLine[]
  summary: SummaryLine
}

async function simulated(script: readonly object[], env: Record<string, string> = {}, config = CONFIG): Promise<Ran> {
  const cwd = folder({ 'gateway.config.ts': config, 'day.jsonl': script.map((line) => JSON.stringify(line)).join('\n') })
  const { code, stdout, stderr } = await command(['simulate', 'day.jsonl', '--json'], { cwd, env })
  expect(stderr).toBe('')
  expect(code).toBe(0)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  return { requests: lines.slice(0, -1) as RequestLine[], summary: (lines.at(-1) as { summary: SummaryLine }).summary }
}

/** For example `openai/main:429`, `openai/main:model_locked`. */
const walk = ({ attempts }: RequestLine) =>
  attempts.map(({ connection, status, failure, skipped }) => `${connection}:${skipped ?? status ?? failure}`)

describe('hookgate simulate', () => {
  it('runs completions, at a vendor that has them and over chat', async () => {
    const request = (model: string, more: object = {}) => ({ request: { path: '/v1/completions', model, ...more } })
    const { requests, summary } = await simulated([
      { at: '0s', ...request('openai/gpt-3.5-turbo-instruct') },
      { at: '1s', ...request('openai/gpt-3.5-turbo-instruct', { prompt: ['a', 'b'], stream: true }) },
      { at: '2s', ...request('coder') },
      { at: '10s', upstream: 'openai/main', answer: { status: 500 } },
      { at: '11s', ...request('openai/gpt-3.5-turbo-instruct') },
    ])
    expect(requests.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(requests.map(walk)).toEqual([
      ['openai/main:200'],
      ['openai/main:200'],
      ['openai/main:200'],
      ['openai/main:500', 'openai/spare:200'],
    ])
    expect(summary.requests).toBe(4)
  })

  it('shows who is asked, who is passed over and why, without one secret of the configuration', async () => {
    const { requests, summary } = await simulated([
      { at: '0s', model: 'coder', count: 4, every: '10s' },
      { at: '5s', upstream: 'openai/main', answer: { status: 429, retry_after: 15, latency_ms: 200 } },
      { at: '15s', upstream: 'openai', answer: { status: 0, latency_ms: 50 } },
      { at: '25s', upstream: 'openai', answer: {} },
    ])
    expect(requests.map(walk)).toEqual([
      ['openai/main:200'],
      ['openai/main:429', 'openai/spare:200'],
      ['openai/main:model_locked', 'openai/spare:connect', 'anthropic/claude:200'],
      ['openai/main:200'],
    ])
    expect(requests.map(({ at_ms, status, latency_ms }) => [at_ms, status, latency_ms])).toEqual([
      [0, 200, 100],
      [10_000, 200, 300],
      [20_000, 200, 150],
      [30_000, 200, 100],
    ])
    expect(requests[2]?.attempts[0]?.back_in_ms).toBe(5200)
    expect(requests.map(({ cost_usd }) => Number(cost_usd) > 0)).toEqual([true, true, true, true])
    expect(summary.cost_usd).toBeCloseTo(
      requests.reduce((sum, { cost_usd }) => sum + Number(cost_usd), 0),
      9,
    )
    expect(summary).toEqual({
      requests: 4,
      succeeded: 4,
      success_rate: 1,
      upstream_calls: 6,
      attempts_per_request: 1.5,
      p95_ms: 300,
      cost_usd: summary.cost_usd,
      unpriced_requests: 0,
      duration_ms: 30_100,
      accounts: [
        { connection: 'openai/main', calls: 3, cooldown_ms: 15_000, open_ms: 0, refused_ms: 0 },
        { connection: 'openai/spare', calls: 2, cooldown_ms: 0, open_ms: 0, refused_ms: 0 },
        { connection: 'anthropic/claude', calls: 1, cooldown_ms: 0, open_ms: 0, refused_ms: 0 },
      ],
    })
  })

  it('counts open circuits and refused credentials, and what no account could serve', async () => {
    const { requests, summary } = await simulated([
      { at: '0s', upstream: 'openai/main', answer: { status: 500 } },
      { at: '0s', upstream: 'openai/spare', answer: { status: 401 } },
      { at: '0s', upstream: 'anthropic', answer: { status: 503, retry_after: 3600 } },
      { at: '0s', model: 'coder', count: 8, every: '1s' },
      { at: '20s', model: 'coder' },
    ])
    expect(requests[0]?.status).toBeGreaterThanOrEqual(500)
    expect(walk(requests.at(-1) as RequestLine)).toEqual([
      'openai/main:circuit_open',
      'openai/spare:auth_failed',
      'anthropic/claude:cooldown',
    ])
    const [main, spare, claude] = summary.accounts
    expect(main).toMatchObject({ calls: 5, open_ms: 15_900 })
    expect(spare).toMatchObject({ calls: 1, open_ms: 0 })
    expect(spare?.refused_ms).toBeGreaterThan(19_000)
    expect(claude).toMatchObject({ calls: 1 })
    expect(claude?.cooldown_ms).toBeGreaterThan(19_000)
    expect(summary.success_rate).toBe(0)
  })

  it('speaks every dialect, streams, and what a request says for itself', async () => {
    const content = [{ role: 'user', content: 'Hello' }]
    const { requests } = await simulated([
      { request: { model: 'coder', messages: content, stream: true, headers: { 'x-session-id': 's1' } } },
      { at: 1000, request: { model: 'anthropic/claude-sonnet-4-5', path: '/v1/messages', max_tokens: 10, messages: content } },
      { at: '2s', request: { model: 'openai/gpt-4.1', path: '/v1/responses', input: 'Hello', stream: true } },
      { at: '3s', request: { model: 'coder', messages: [] } },
      { at: '4s', model: 'nobody/knows', stream: true },
    ])
    expect(requests.map(({ status }) => status)).toEqual([200, 200, 200, 400, 400])
    expect(requests.map(({ error }) => error)).toEqual([null, null, null, expect.any(String), expect.stringMatching(/nobody/)])
    expect(requests.map(walk).slice(0, 3)).toEqual([['openai/main:200'], ['anthropic/claude:200'], ['openai/main:200']])
  })

  it('touches no store and no key of the environment, and calls no webhook', async () => {
    const config = CONFIG.replace(
      'virtualModels:',
      `options: { databaseUrl: 'postgres://127.0.0.1:1/none', redisUrl: 'redis://127.0.0.1:1' },
       webhooks: { ops: { url: 'http://127.0.0.1:1/hook' } }, virtualModels:`,
    )
    const env = {
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      GATEWAY_REDIS_URL: 'redis://127.0.0.1:1',
      GATEWAY_DATA_DIR: '/nowhere/at/all',
      GATEWAY_MASTER_KEY_PATH: '/nowhere/master.key',
      GATEWAY_REQUIRE_API_KEY: 'true',
      GATEWAY_PROFILE: 'cloud',
    }
    const { requests } = await simulated([{ model: 'coder' }], env, config)
    expect(requests.map(({ status }) => status)).toEqual([200])
  })

  it('variables of the environment that steer routing count', async () => {
    const script = [
      { upstream: 'openai/main', answer: { status: 429, retry_after: 2, latency_ms: 0 } },
      { at: '1s', upstream: 'openai/main', answer: { latency_ms: 0 } },
      { model: 'coder' },
    ]
    expect((await simulated(script)).requests.map(walk)).toEqual([['openai/main:429', 'openai/spare:200']])
    const { requests } = await simulated(script, { GATEWAY_COOLDOWN_RETRY_MAX_WAIT_MS: '5000' })
    expect(requests.map(walk)).toEqual([['openai/main:429', 'openai/main:200']])
    expect(requests[0]?.latency_ms).toBe(2000)
  })

  it('without --json prints a table and the sum of it; without a configuration there is echo', async () => {
    const cwd = folder({ 'day.jsonl': '{"model":"echo/echo-1"}\n\n{"at":"1m","model":"echo/echo-1"}\n' })
    const { code, stdout } = await command(['simulate', 'day.jsonl'], { cwd })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^TIME +MODEL +STATUS +LATENCY +ATTEMPTS\n/)
    expect(stdout).toMatch(/^60\.0s +echo\/echo-1 +200 +0 ms +echo\/echo:200$/m)
    expect(stdout).toMatch(/^2 of 2 requests succeeded \(100\.00 %\)\np95 0 ms, cost \$0\.0\d+\n2 upstream calls/m)
    expect(stdout).toMatch(/^echo\/echo +2 +0\.0s +0\.0s +0\.0s$/m)
  })

  it('--assume takes an account as down, and names the first request that ends elsewhere', async () => {
    const script = '{"model":"coder","count":3}\n{"at":"1s","upstream":"openai","answer":{"status":200}}\n'
    const cwd = folder({ 'gateway.config.ts': CONFIG, 'day.jsonl': script })
    const run = (...args: string[]) => command(['simulate', 'day.jsonl', ...args], { cwd })
    const { code, stdout } = await run('--assume', 'openai/main=down')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^coder {3}openai\/spare 100\.0 % █+/m)
    expect(stdout).toMatch(/ok 100\.0 % → 100\.0 % {3}p95 100 ms → 101 ms {3}cost \+0\.0 %$/m)
    expect(stdout).toMatch(/request 1 \(openai\/main → openai\/spare\) {5}--explain 1$/m)
    const lines = (await run('--assume', 'openai/main=down', '--json')).stdout.trim().split('\n')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      first_difference: { request: 1, saved: 'openai/main', now: 'openai/spare' },
    })
    const explained = await run('--assume', 'openai/main=down', '--explain', '2')
    expect(explained.stdout).toMatch(
      /^request 2\ncoder at 1\.0 s: 200[\s\S]*openai\/main \(gpt-4\.1\) {2}connect[\s\S]*with the saved config\n/,
    )
    for (const [args, message] of [
      [['--assume', 'openai/man=down'], /--assume: the configuration has no upstream openai\/man/],
      [['--assume', 'openai'], /--assume: openai is not like openai\/main=down/],
      [['--explain', '9'], /--explain: there are requests 1 to 3/],
    ] as const) {
      const wrong = await run(...args)
      expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(message)])
    }
  })

  it('--config is compared with the file of the usual place', async () => {
    const other = CONFIG.replace("targets: ['openai/gpt-4.1', ", 'targets: [')
    const cwd = folder({ 'gateway.config.ts': CONFIG, 'new.config.ts': other, 'day.jsonl': '{"model":"coder"}\n' })
    const { stdout } = await command(['simulate', 'day.jsonl', '--config', 'new.config.ts'], { cwd })
    expect(stdout).toMatch(/p95 100 ms → 100 ms {3}cost \+\d+\.\d %\n/)
    expect(stdout).toMatch(/first difference to the saved config: request 1 \(openai\/main → anthropic\/claude\)/)
  })

  it.each<[string, RegExp]>([
    ['', /The script asks for nothing/],
    ['{"model":"m"}\nsoon', /Line 2 of the script: this is not JSON/],
    ['[]', /Line 1 of the script: this is not an object/],
    ['{"at":"1s"}', /Line 1 of the script: say request, model or upstream/],
    ['{"at":"soon","model":"m"}', /Line 1 of the script: at: must be ms, or a text like/],
    ['{"at":-1,"model":"m"}', /Line 1 of the script: at: /],
    ['{"model":"m","times":2}', /Line 1 of the script: .*times/],
    ['{"model":"m","count":100000}\n{"model":"m"}', /Line 2 of the script: there are more than 100000 requests/],
    ['{"upstream":"openai","answer":{"status":99}}', /Line 1 of the script: answer\.status/],
    [
      '{"model":"m"}\n{"upstream":"openai/man","answer":{}}',
      /Line 2 .* no upstream openai\/man\.\n {2}why {2}There are anthropic, anthropic\/claude/,
    ],
  ])('%j is no script: exit 1, and the line', async (script, message) => {
    const cwd = folder({ 'gateway.config.ts': CONFIG, 'day.jsonl': script })
    const { code, stdout, stderr } = await command(['simulate', 'day.jsonl'], { cwd })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })

  it('as a process: it ends by itself, and opens no address of the configuration', async () => {
    const config = CONFIG.replace("provider: 'anthropic',", "provider: 'anthropic', baseUrl: 'http://127.0.0.1:1',")
    const script = '{"model":"coder"}\n{"upstream":"openai","answer":{"status":500}}\n'
    const cwd = folder({ 'other.config.ts': config, 'day.jsonl': script })
    const { code, stdout, stderr } = await hookgate(['simulate', 'day.jsonl', '--config', 'other.config.ts', '--json'], { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(walk(JSON.parse(stdout.split('\n', 1)[0] as string) as RequestLine)).toContain('anthropic/claude:200')
  })

  it('a missing script is a wrong command line, one that is not there a failure', async () => {
    const cwd = folder({})
    const missing = await command(['simulate'], { cwd })
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringMatching(/<script> is missing/)])
    const absent = await command(['simulate', 'none.jsonl'], { cwd })
    expect([absent.code, absent.stderr]).toEqual([
      1,
      expect.stringMatching(/none\.jsonl cannot be read\.\n {2}why {2}There is no such file/),
    ])
  })
})
