// Loads gateway.config.ts and follows its changes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../../../adapters/node/loading/load-config.ts'
import { type LoadedGateway, loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { reply } from '../../../adapters/testing/script.ts'
import { scriptedUpstream } from '../../../adapters/testing/scripted-upstream.ts'
import { silentLog } from '../../../core/log.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { preset } from '../../../plugins/preset.ts'
import { folder } from '../cli/hookgate.ts'
import { ask, eventually, until } from './support.ts'

const HEAD = `import { defineConfig, definePlugin, preset, secret } from 'hookgate'\n`
const ECHO = `connections: { echo: { provider: 'echo' } }`
const config = (inside: string) => `${HEAD}export default defineConfig({ ${inside} })\n`

const opened: LoadedGateway[] = []
afterEach(async () => {
  for (const loaded of opened.splice(0)) await loaded.close()
})

async function load(text: string, options: { env?: Record<string, string>; log?: Logger; watch?: boolean } = {}) {
  const cwd = folder({ 'gateway.config.ts': text })
  const { env = {}, log = silentLog, watch = false } = options
  const loaded = await loadGateway({ cwd, env, watch, ports: { log } })
  opened.push(loaded)
  return { ...loaded, rewrite: (next: string) => writeFileSync(join(cwd, 'gateway.config.ts'), next) }
}

const failure = (text: string, env: Record<string, string> = {}) =>
  load(text, { env }).then(
    () => 'it loaded',
    (error: Error) => error.message,
  )

function ask1(loaded: LoadedGateway, model: string, stream = false): Promise<Response> {
  const { path, body } = ask('chat', model, { stream })
  return loaded.gateway.fetch(new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) }))
}

describe('a configuration that is wrong', () => {
  it.each([
    ['a field nobody knows', config(`connections: { echo: { provider: 'echo', priorty: 1 } }`), /connections\.echo: .*priorty/],
    [
      'a wrong value',
      config(`connections: { echo: { provider: 'echo', maxInflight: 'many' } }`),
      /connections\.echo\.maxInflight/,
    ],
    ['a base URL that is none', config(`connections: { a: { provider: 'openai', baseUrl: 'nope' } }`), /connections\.a\.baseUrl/],
    [
      'a wire format that is none',
      config(`connections: { a: { provider: 'custom', wireFormat: 'soap' } }`),
      /connections\.a\.wireFormat/,
    ],
    [
      'an unknown provider',
      config(`connections: { a: { provider: 'opnai', apiKey: 'x' } }`),
      /connections\.a\.provider: `opnai`/,
    ],
    ['a custom provider without an address', config(`connections: { a: { provider: 'custom' } }`), /connections\.a\.baseUrl/],
    [
      'an address with the operation in it',
      config(`connections: { a: { provider: 'custom', wireFormat: 'chat', baseUrl: 'https://x.test/v1/chat/completions' } }`),
      /connections\.a\.baseUrl ends in `\/chat\/completions`.* leave it out: https:\/\/x\.test\/v1$/,
    ],
    [
      'a missing key',
      config(`connections: { a: { provider: 'openai' } }`),
      /connections\.a\.apiKey: .*secret\.env\('OPENAI_API_KEY'\)/,
    ],
    [
      'a secret that is not set',
      config(`connections: { a: { provider: 'openai', apiKey: secret.env('NOT_SET') } }`),
      /connections\.a\.apiKey: .*NOT_SET is not set/,
    ],
    [
      'a secret file that is not there',
      config(`connections: { a: { provider: 'openai', apiKey: secret.file('/no/such') } }`),
      /connections\.a\.apiKey: .*\/no\/such/,
    ],
    ['a plugin that is none', config(`plugins: [{}]`), /plugins\.0/],
    ['a factory that was not called', config(`plugins: [definePlugin({ name: 'p', setup() {} })]`), /plugins\.0: .*call it/],
    ['a preset that was not spread', config(`plugins: [preset()]`), /plugins\.0: .*spread it/],
    ['a pair of name and options', config(`plugins: [['acme', { a: 1 }]]`), /plugins\.0: .*\{ plugin: 'acme', options/],
    ['an option that is none', config(`options: { streamHartbeatMs: 1 }`), /options\.streamHartbeatMs/],
    ['a member nobody knows', config(`conections: {}`), /conections/],
    ['no default export', `${HEAD}export const x = 1\n`, /gateway\.config\.ts has no default export/],
  ])('%s is named by its path in the file', async (_what, text, message) => {
    expect(await failure(text)).toMatch(message)
  })

  it('a syntax error names file and line', async () => {
    const text = `${HEAD}export default defineConfig({\n  connections: { echo: { provider 'echo' } },\n})\n`
    expect(await failure(text)).toMatch(/gateway\.config\.ts could not be loaded: [\s\S]*gateway\.config\.ts:3:\d+/)
  })

  it('an error thrown by the file keeps its message', async () => {
    expect(await failure(`${HEAD}throw new Error('no tenant list')\n`)).toBe(
      'gateway.config.ts could not be loaded: no tenant list',
    )
  })

  it('a file that was asked for and is not there is an error; none asked for and none there is a gateway with echo', async () => {
    const missing = loadGateway({ config: 'other.config.ts', cwd: folder({}), env: {} })
    await expect(missing).rejects.toThrow(/other\.config\.ts does not exist/)
    const loaded = await loadGateway({ cwd: folder({}), env: {}, ports: { log: silentLog } })
    opened.push(loaded)
    expect(loaded.path).toBeNull()
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(200)
  })
})

describe('what a configuration says', () => {
  it('secrets come from the environment and from files, and never leave in answers', async () => {
    const upstream = await scriptedUpstream(reply({ text: 'ok' }))
    const file = join(folder({ key: 'sk-from-file\n' }), 'key')
    const up = (key: string) =>
      `{ provider: 'custom', wireFormat: 'chat', baseUrl: '${upstream.baseUrl('chat')}', apiKey: ${key} }`
    const loaded = await load(config(`connections: { a: ${up(`secret.env('A_KEY')`)}, b: ${up(`secret.file('${file}')`)} }`), {
      env: { A_KEY: 'sk-from-env' },
    })
    await ask1(loaded, 'a/m')
    await ask1(loaded, 'b/m')
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-from-env', 'Bearer sk-from-file'])
    await upstream.close()
  })

  it.each([
    ['options: 7', 'options: must be an object'],
    ['options: [8788]', 'options: must be an object'],
    ['connections: { a: { provider: 7, x: 1, y: 2 } }', 'connections.a: there is no such field (x, y)'],
  ])('%s stops the boot', async (inside, words) => {
    expect(await failure(config(`${inside} as never`))).toContain(words)
  })

  it('options lie below the environment, and flags above it', async () => {
    const text = config(`${ECHO}, options: { port: 1111, streamHeartbeatMs: 1111, maxBodyBytes: 1111 }`)
    const cwd = folder({ 'gateway.config.ts': text })
    const env = { GATEWAY_PORT: '2222', GATEWAY_STREAM_HEARTBEAT_MS: '2222' }
    const loaded = await loadGateway({ cwd, env, flags: { PORT: '3333' }, watch: false, ports: { log: silentLog } })
    opened.push(loaded)
    const names = ['PORT', 'STREAM_HEARTBEAT_MS', 'MAX_BODY_BYTES'] as const
    expect(names.map((name) => loaded.gateway.env.get(name))).toEqual([3333, 2222, 1111])
    const sources = loaded.gateway.env
      .all()
      .flatMap(({ variable, source }) => (names.includes(variable.name as 'PORT') ? [source] : []))
    expect(sources).toEqual(['flag', 'env', 'config'])
  })

  it('a registry provider is called at its own address when the connection gives none', async () => {
    const upstream = await scriptedUpstream(reply({ text: 'ok' }))
    const provider = `{ ...defineProvider({ id: 'acme', aliases: [], baseUrl: '${upstream.baseUrl('chat')}', dialects: { chat: '' }, quirks: {},
      needsKey: false, caps: () => ({ family: 'acme' }), dialectFor: () => 'chat', authorize() {} }) }`
    const text = `import { defineConfig, defineProvider } from 'hookgate'
      export default defineConfig({ providers: [${provider}], connections: { acme: { provider: 'acme' } } })`
    const loaded = await load(text)
    expect((await ask1(loaded, 'acme/m')).status).toBe(200)
    expect(upstream.requests[0]?.path).toBe('/v1/chat/completions')
    await upstream.close()
  })

  it('every entry of the package can be imported from a folder where it is not installed', async () => {
    const text = `${HEAD}import { metrics } from 'hookgate/plugins/metrics'
      import { globMatch } from 'hookgate/core'
      import { preset as same } from 'hookgate/preset'
      import { text } from 'hookgate/testing'
      import { chatDialect } from 'hookgate/adapters/dialects/chat'
      globalThis.__seen = [typeof metrics, typeof globMatch, same === preset, typeof text, chatDialect.id]
      export default defineConfig({ ${ECHO} })`
    await load(text)
    expect((globalThis as { __seen?: unknown }).__seen).toEqual(['function', 'function', true, 'function', 'chat'])
  })
})

describe('a configuration that changes', () => {
  it('shares the modules that run: its preset() is ours, so unchanged plugins keep their instance', async () => {
    const cwd = folder({
      'gateway.config.ts': `${HEAD}globalThis.__preset = preset\nexport default defineConfig({ ${ECHO}, plugins: preset() })`,
    })
    await loadConfig(join(cwd, 'gateway.config.ts'))
    expect((globalThis as { __preset?: unknown }).__preset).toBe(preset)

    const setUps: unknown[] = []
    ;(globalThis as { __setUps?: unknown[] }).__setUps = setUps
    const own = `definePlugin({ name: 'own', setup() { globalThis.__setUps.push('+own'); return () => globalThis.__setUps.push('-own') } })`
    const kept = folder({
      'gateway.config.ts': `${HEAD}globalThis.__own ??= ${own}\nexport default defineConfig({ ${ECHO}, plugins: [...preset(), globalThis.__own()] })`,
    })
    const loaded = await loadGateway({ cwd: kept, env: {}, watch: false, ports: { log: silentLog } })
    opened.push(loaded)
    await loaded.reload()
    await loaded.reload()
    expect(setUps).toEqual(['+own'])
  })

  it.each([
    ['gateway.config.ts', 'commonjs'],
    ['gateway.config.mjs', 'commonjs'],
    ['gateway.config.js', 'commonjs'],
    ['gateway.config.js', 'module'],
  ])('%s in a package of type %s is read as it is now', async (name, type) => {
    const text = (connections: string) => `export default { connections: { ${connections} } }`
    const cwd = folder({ [name]: text(''), 'package.json': JSON.stringify({ type }) })
    const loaded = await loadGateway({ cwd, env: {}, watch: false, ports: { log: silentLog } })
    opened.push(loaded)
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(400)
    writeFileSync(join(cwd, name), text(`echo: { provider: 'echo' }`))
    await loaded.reload()
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(200)
  })

  it('a plugin written in the file is set up anew, and the old one torn down', async () => {
    const setUps: string[] = []
    ;(globalThis as { __seen?: string[] }).__seen = setUps
    const own = (word: string) =>
      `definePlugin({ name: 'own', setup() { globalThis.__seen.push('+${word}'); return () => void globalThis.__seen.push('-${word}') } })`
    const text = (word: string) =>
      `${HEAD}const own = ${own(word)}\nexport default defineConfig({ ${ECHO}, plugins: [...preset(), own()] })`
    const loaded = await load(text('one'))
    loaded.rewrite(text('two'))
    await loaded.reload()
    await until(() => setUps.length === 3)
    expect(setUps).toEqual(['+one', '+two', '-one'])
  })

  it('a saved file adds a connection and drops no running stream', async () => {
    const upstream = await scriptedUpstream(reply({ text: 'word '.repeat(16), chunk: 5 }, { everyMs: 50 }))
    const up = `up: { provider: 'custom', wireFormat: 'chat', baseUrl: '${upstream.baseUrl('chat')}' }`
    const loaded = await load(config(`connections: { ${up} }`), { watch: true })
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(400)
    const running = await ask1(loaded, 'up/m', true)
    loaded.rewrite(config(`connections: { ${up}, echo: { provider: 'echo' } }`))
    await eventually(async () => (await ask1(loaded, 'echo/echo-1')).status === 200)
    const text = await running.text()
    expect(text.match(/word /g)).toHaveLength(16)
    expect(text).toMatch(/\[DONE\]\n\n$/)
    await upstream.close()
  })

  it('a change that does not load keeps the last good configuration and says so', async () => {
    const errors: string[] = []
    const log: Logger = {
      ...silentLog,
      error: (_message, fields) => void errors.push(String((fields as { error?: string }).error)),
    }
    const loaded = await load(config(ECHO), { watch: true, log })
    loaded.rewrite(`${HEAD}export default defineConfig({ oops`)
    await until(() => errors.length === 1)
    expect(errors[0]).toMatch(/last good one keeps serving\. gateway\.config\.ts could not be loaded/)
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(200)

    loaded.rewrite(
      config(`connections: { echo: { provider: 'echo' }, b: { provider: 'openai', apiKey: secret.env('NOT_SET') } }`),
    )
    await until(() => errors.length === 2)
    expect(errors[1]).toMatch(/connections\.b\.apiKey/)
    expect((await ask1(loaded, 'echo/echo-1')).status).toBe(200)

    loaded.rewrite(config(`connections: { other: { provider: 'custom', wireFormat: 'chat', baseUrl: 'http://127.0.0.1:9' } }`))
    await eventually(async () => (await ask1(loaded, 'echo/echo-1')).status !== 200)
    expect(errors).toHaveLength(2)
  })
})
