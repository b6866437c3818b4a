import { chmodSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { variablesOf } from '../../../core/plugins/variables.ts'
import { VERSION } from '../../../core/version.ts'
import { preset } from '../../../plugins/preset.ts'
import { config } from './doctor-findings.ts'
import { folder, hookgate } from './hookgate.ts'
import { command } from './in-process.ts'

interface Row {
  name: string
  value: string
  source: string
  default: string
  plugin: string
  about: string
}

const VARIABLES = variablesOf(preset())

const empty = folder({})

describe('hookgate', () => {
  it('--version is the version of the package', async () => {
    expect(await hookgate(['--version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' })
  })

  it('--help names the commands', async () => {
    const { code, stdout } = await command(['--help'])
    expect(code).toBe(0)
    for (const name of ['serve', 'key', 'hooks', 'env', 'doctor']) expect(stdout).toContain(name)
  })

  it('as a process: words on stderr, and the exit code', async () => {
    const wrong = await hookgate(['bogus'], { cwd: empty })
    expect(wrong).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/no command bogus/) })
    const failed = await hookgate([], { cwd: empty, env: { GATEWAY_PORT: 'x' } })
    expect(failed).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(/GATEWAY_PORT/) })
  })

  it.each([
    [
      ['bogus'],
      /There is no command bogus\. There are serve, dev, init, key, token, org, user, signup, responses, provider, budget, usage, savings, advisor, digest, eval, shadow, free-pool, report, pricing, price, status, logs, webhook, password, db, master-key, audit, plugins, plugin, filter, plan, apply, export, import, hooks, env, doctor, completion, simulate, bench, routes/,
    ],
    [['serve', '--prot', '9000'], /There is no flag --prot\. Did you mean --port\?/],
    [
      ['serve', '--quick'],
      /There is no flag --quick\. There are --config, --port, --host, --data-dir, --workers, --drain-ms, --log, --allow-newer/,
    ],
    [['--prot=9000'], /There is no flag --prot/],
    [['srve'], /There is no command srve\. Did you mean serve\?/],
    [['key', 'lst'], /There is no command key lst\. Did you mean key list\?/],
    [['budgte', 'list'], /Did you mean budget\?/],
    [['key'], /key needs a subcommand\. There are create, list, revoke, rotate/],
    [['serve', '--log', 'xml'], /--log: xml is neither json nor pretty/],
    [['completion', 'tcsh'], /There is no completion for tcsh\. There is one for bash, zsh, fish, powershell/],
    [['completion', 'values', 'cows'], /There are no values cows\. There are keys, key-ids/],
    [['completion', 'bash', 'twice'], /twice is one word too many/],
    [['hooks', '--jsn'], /There is no flag --jsn\. Did you mean --json\?/],
    [['env', '--jsn'], /There is no flag --jsn/],
    [['env', '-json'], /There is no flag -json\. Did you mean --json\?/],
    [['-port=9000'], /There is no flag -port=9000/],
    [['key', 'revoke', '-1'], /There is no flag -1/],
    [['key', 'create', '--label=ci', '-x'], /There is no flag -x/],
    [['key', 'create', '--rpm', '-1'], /--rpm/],
    [['serve', '--drain-ms', 'soon'], /--drain-ms: soon is not a whole number/],
    [['serve', '--port', 'http'], /--port: http is not a port, a whole number from 0 to 65535/],
    [['serve', '--port', '65536'], /--port: 65536 is not a port/],
  ])('%j is a wrong command line: exit 2, and what there is instead', async (args, message) => {
    const { code, stdout, stderr } = await command(args, { cwd: empty })
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
  })

  it.each([
    [{ GATEWAY_PORT: 'http' }, /GATEWAY_PORT: http is not a whole number of at least 0 and at most 65535/],
    [{ GATEWAY_PROFILE: 'home' }, /GATEWAY_PROFILE: home is not one of local, cloud/],
    [{ GATEWAY_REQUIRE_API_KEY: 'maybe' }, /GATEWAY_REQUIRE_API_KEY: maybe is neither true nor false/],
    [{ GATEWAY_STREAM_HEARTBEAT_MS: '-1' }, /GATEWAY_STREAM_HEARTBEAT_MS/],
    [{ DATABASE_URL: 'not a url' }, /GATEWAY_DATABASE_URL: the value is not a URL/],
    [{ GATEWAY_PORT: 'x', GATEWAY_MAX_BODY_BYTES: '0' }, /GATEWAY_PORT[\s\S]*GATEWAY_MAX_BODY_BYTES/],
  ])('%j stops the boot with exit 1, naming the variable', async (env, message) => {
    for (const name of ['serve', 'hooks', 'env']) {
      const { code, stdout, stderr } = await command([name], { cwd: empty, env: env as Record<string, string> })
      expect(code, name).toBe(1)
      expect(stdout, name).toBe('')
      expect(stderr, name).toMatch(message)
    }
  })
})

describe('a failure', () => {
  it('has three lines: what, why, and the command that fixes it', async () => {
    const usage = await command(['key', 'create', '--rpm', 'x'], { cwd: empty })
    expect(usage.stderr).toMatch(
      /--rpm: x is not a whole number\.\n {2}why {2}The command line is wrong; .*\n {2}fix {2}hookgate key create --help\n$/,
    )
    const env = { GATEWAY_DATA_DIR: folder({}) }
    const refused = await command(['key', 'revoke', '99'], { cwd: empty, env })
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/\n {2}why {2}.* 404\.\n {2}fix {2}hookgate key list\n$/),
    })
  })

  it('names the command that mends it, also where it is no command of ours', async () => {
    const dir = folder({})
    const env = { GATEWAY_DATA_DIR: dir }
    await command(['key', 'create'], { cwd: empty, env })
    chmodSync(dir, 0o755)
    const open = await command(['key', 'list'], { cwd: empty, env })
    expect(open.stderr).toMatch(/open to others \(mode 0755\)\.\n[\s\S]* {2}fix {2}chmod 700 \S+\n$/)
    const absent = await command(['simulate', 'absent.jsonl'], { cwd: empty })
    expect(absent.stderr).toMatch(
      /cannot be read\.\n {2}why {2}There is no such file or folder\.\n {2}fix {2}hookgate simulate --help\n$/,
    )
  })

  it('of a file that cannot be applied says why, and points to the plan', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}) }
    await command(['key', 'create', '--label', 'ci'], { cwd: empty, env })
    const cwd = folder(config(`{ keys: { ci: { label: 'ci' } } }`))
    const { code, stderr } = await command(['apply', '--yes'], { cwd, env })
    expect(code).toBe(1)
    expect(stderr).toMatch(/was made through the API\.\n {2}why {2}Rename one.*\n {2}fix {2}hookgate plan\n$/)
  })

  it('of a new key names its limits and the budget that new keys get', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}), GATEWAY_DEFAULT_KEY_BUDGET_USD: '100' }
    const made = await command(['key', 'create', '--models', 'coder,openai/*', '--rpm', '60'], { cwd: empty, env })
    expect(made.stderr).toContain('  id 1 · models coder, openai/* · 60 rpm · budget $100.00 monthly (default)\n')
  })

  it('--quiet leaves results and failures only', async () => {
    const env = { GATEWAY_DATA_DIR: folder({}) }
    expect(await command(['key', 'create', '--quiet'], { cwd: empty, env })).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^gw_\w+\n$/),
      stderr: '',
    })
    expect((await command(['key', 'revoke', '99', '--quiet'], { cwd: empty, env })).stderr).toMatch(/fix/)
    expect((await command(['key', 'create'], { cwd: empty, env })).stderr).not.toBe('')
  })
})

describe('hookgate env', () => {
  const rows = async (env: Record<string, string> = {}, cwd = empty, args: string[] = []): Promise<Map<string, Row>> => {
    const { code, stdout } = await command(['env', '--json', ...args], { env, cwd })
    expect(code).toBe(0)
    return new Map((JSON.parse(stdout) as Row[]).map((row) => [row.name, row]))
  }

  it('prints every declared variable with value, source, default and meaning', async () => {
    const all = await rows()
    expect([...all.keys()]).toEqual(VARIABLES.map(({ name }) => `GATEWAY_${name}`))
    expect(all.get('GATEWAY_PORT')).toEqual({
      name: 'GATEWAY_PORT',
      type: 'int',
      value: 8788,
      source: 'default',
      default: 8788,
      plugin: 'core',
      about: 'Port; 0 picks a free one.',
    })
    for (const row of all.values()) expect(row.about, row.name).toMatch(/\.$/)
  })

  it('says where a value comes from: default, file or environment; the environment wins', async () => {
    const cwd = folder({
      'gateway.config.ts': `import { defineConfig } from 'hookgate'
        export default defineConfig({ profile: 'cloud', options: { port: 1111, streamHeartbeatMs: 1111 } })`,
    })
    const all = await rows({ GATEWAY_PORT: '2222' }, cwd)
    const seen = ['GATEWAY_PROFILE', 'GATEWAY_PORT', 'GATEWAY_STREAM_HEARTBEAT_MS', 'GATEWAY_HOST'].map((name) => {
      const { value, source } = all.get(name) as Row
      return [value, source]
    })
    expect(seen).toEqual([
      ['cloud', 'config'],
      [2222, 'env'],
      [1111, 'config'],
      ['127.0.0.1', 'default'],
    ])
  })

  it('never prints a credential', async () => {
    const env = Object.fromEntries(
      VARIABLES.filter(({ type }) => type === 'secret').map(({ name }) => [`GATEWAY_${name}`, 'hush-hush']),
    )
    const urls = { DATABASE_URL: 'postgres://app:hush-hush@db/app', GATEWAY_OUTBOUND_PROXY: 'http://user:hush-hush@proxy:3128' }
    for (const flags of [[], ['--json']]) {
      const { stdout } = await command(['env', ...flags], { cwd: empty, env: { ...env, ...urls } })
      expect(stdout).not.toContain('hush-hush')
      expect(stdout).toContain('postgres://app:***@db/app')
    }
    expect(Object.keys(env).length).toBeGreaterThan(4)
  })

  it('the table has a line for each variable', async () => {
    const { stdout } = await command(['env'], { cwd: empty })
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^VARIABLE +VALUE +SOURCE +DEFAULT +PLUGIN +MEANING$/)
    expect(lines).toHaveLength(VARIABLES.length + 2)
  })

  it('what a lenient variable ignores is said on stderr, and the boot goes on', async () => {
    const { code, stderr } = await hookgate(['env'], { cwd: empty, env: { GATEWAY_CAVEMAN_LEVEL: 'loud' } })
    expect(code).toBe(0)
    expect(stderr).toMatch(/GATEWAY_CAVEMAN_LEVEL: .*ignored/)
  })
})

describe('hookgate hooks', () => {
  interface Sealed {
    hook: string
    kind: string
    handlers: { plugin: string; order: string; onError: string; conditional: boolean }[]
  }

  it('prints the sealed order of the preset', async () => {
    const { code, stdout } = await command(['hooks', '--json'], { cwd: empty })
    expect(code).toBe(0)
    const order = (JSON.parse(stdout) as Sealed[]).map(({ hook, kind, handlers }) =>
      [hook, kind, ...handlers.map(({ plugin }) => plugin)].join(' '),
    )
    expect(order).toMatchInlineSnapshot(`
      [
        "ingress series helicone",
        "authenticate first keys",
        "access series helicone keys rate-limits helicone request-log",
        "resolve first web-fetch virtual-models helicone connections virtual-models default-models",
        "request series helicone free-pool responses-state responses-state web-fetch compaction compaction guardrails guardrails helicone completions budgets responses-state",
        "answer first responses-state compaction compaction exact-cache semantic-cache",
        "admit series budgets free-pool",
        "reserve series ledger",
        "candidates reduce policy free-pool resilience quota virtual-models virtual-models",
        "call wrap guardrails shadow-eval virtual-models count-tokens compaction completions",
        "attempt wrap virtual-models helicone quota resilience policy proxy-pools strip-unsupported cache-injection item-ids upstream-headers helicone responses-state",
        "prepare series responses-state token-saver token-saver reasoning-replay thought-signatures",
        "encoded series virtual-models cache-injection reasoning-replay strip-unsupported item-ids responses-state responses-state",
        "stream stream reasoning-replay thought-signatures think-tags guardrails semantic-cache request-log shadow-eval",
        "stream:batch reduce guardrails",
        "response reduce reasoning-replay thought-signatures think-tags guardrails guardrails semantic-cache",
        "settle series free-pool budgets request-log savings advisor responses-state ledger webhooks",
        "settled observe rate-limits virtual-models helicone budgets shadow-eval live-events resilience metrics",
        "ready series mail guardrails dashboard pricing virtual-models helicone semantic-cache ledger budgets budgets request-log shadow-eval token-saver answer-model tunnel interception",
        "close observe",
      ]
    `)
  })

  it('prints it as a table too, for the configuration that is asked for', async () => {
    const cwd = folder({
      'own.config.ts': `import { defineConfig, definePlugin, preset } from 'hookgate'
        const last = definePlugin({ name: 'last', setup: (g) => g.hook('settled', () => {}, { after: 'metrics', timeoutMs: 50, when: () => true }) })
        const first = definePlugin({ name: 'first', setup: (g) => g.hook('settled', () => {}, { before: 'metrics' }) })
        export default defineConfig({ plugins: [...preset(), last(), first()] })`,
    })
    const { stdout } = await command(['hooks', '--table', '--config', 'own.config.ts'], { cwd })
    expect(stdout).toMatch(/^settled +observe +\S+ +normal +open/m)
    const lines = stdout
      .split('\n')
      .slice(stdout.split('\n').findIndex((line) => line.startsWith('settled')))
      .map((line) => line.trim().split(/\s{2,}/))
      .filter((cells) => ['first', 'metrics', 'last'].includes(cells[0] as string))
    expect(lines).toEqual([
      ['first', 'normal', 'open'],
      ['metrics', 'normal', 'open'],
      ['last', 'normal', 'open', '50 ms, conditional'],
    ])
  })

  it('a circle of before and after is a boot error that names the plugins', async () => {
    const cwd = folder({
      'gateway.config.ts': `import { defineConfig, definePlugin } from 'hookgate'
        const plugin = (name, before) => definePlugin({ name, setup: (g) => g.hook('access', () => {}, { before }) })()
        export default defineConfig({ plugins: [plugin('a', 'b'), plugin('b', 'a')] })`,
    })
    const { code, stderr } = await command(['hooks'], { cwd })
    expect(code).toBe(1)
    expect(stderr).toMatch(/hook access is a circle: .*a.*b/)
  })
})
