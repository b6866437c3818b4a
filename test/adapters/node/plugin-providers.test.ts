// A package with a provider, its own dialect, credentials and secrets: the one of docs/plugins/providers.md, loaded by name and called
// through a listening gateway.
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { type RunningServer, serve } from '../../../adapters/node/server/serve.ts'
import { silentLog } from '../../../core/log.ts'
import { readDoc } from '../../markdown.ts'
import { folder } from '../cli/hookgate.ts'
import { ask, DIALECTS, post } from './support.ts'

const ZOD = join(import.meta.dirname, '../../../node_modules/zod/index.js')
const KEY = JSON.stringify({ id: 'me', password: 'open-sesame-42' })
const PACKAGE = (/## A whole package[\s\S]*?```ts\n([\s\S]*?)```/.exec(readDoc('docs/plugins/providers.md'))?.[1] ?? '').replace(
  "'zod'",
  `'${ZOD}'`,
)

/** The upstream, its token service and the vault, in one server. */
interface Acme {
  readonly url: string
  readonly seen: { path: string; token: string | undefined; body: string }[]
  tokens: number
  refuse: number
  answer: 'text' | 'cut' | 'echo'
}

let acme: Acme
let server: Server
const running: { close(): Promise<unknown> }[] = []

beforeEach(async () => {
  const state = { url: '', seen: [], tokens: 0, refuse: 0, answer: 'text' } as Acme & { url: string }
  server = createServer((req, res) => void served(state, req, res))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  acme = state
})
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close()
  server.closeAllConnections()
  server.close()
})

async function served(state: Acme, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await text(req)
  const path = req.url ?? ''
  state.seen.push({ path, token: req.headers.authorization, body })
  if (path === '/closed') return void res.end()
  if (path === '/vault/llm/acme') return void res.end(KEY)
  if (path === '/token') {
    state.tokens++
    res.setHeader('content-type', 'application/json')
    return void res.end(JSON.stringify({ token: `token-number-${state.tokens}`, seconds: 3600 }))
  }
  if (state.refuse > 0) {
    state.refuse--
    return void res.writeHead(401).end('no open-sesame-42 here')
  }
  const { lines, stream } = JSON.parse(body) as { lines: { text: string }[]; stream: boolean }
  const said = `You said ${lines.at(-1)?.text}`
  if (!stream)
    return void res.setHeader('content-type', 'application/json').end(JSON.stringify({ text: said, read: 7, written: 5 }))
  res.setHeader('content-type', 'application/vnd.acme.stream')
  const pieces = [...said.split(/(?<= )/).map((piece) => ({ text: piece })), { read: 7, written: 5 }]
  const bytes = Buffer.concat(pieces.map((piece) => framed(JSON.stringify(piece))))
  if (state.answer === 'cut') return void res.end(bytes.subarray(0, bytes.length - 10))
  // Two writes that split a message.
  res.write(bytes.subarray(0, 11))
  res.end(bytes.subarray(11))
}

function framed(json: string): Buffer {
  const out = Buffer.alloc(4 + json.length)
  out.writeUInt32BE(json.length)
  out.write(json, 4)
  return out
}

const NAMED = (url: string) => `{ plugin: 'hookgate-provider-acme', options: { baseUrl: '${url}', vaultUrl: '${url}/vault' } }`

function project(plugins: string, apiKey: string, packages: Record<string, string>, more = ''): string {
  const cwd = folder({
    'gateway.config.ts': `import { defineConfig, preset, secret } from 'hookgate'
export default defineConfig({ connections: { acme: { provider: 'acme', apiKey: ${apiKey} } }, plugins: [...preset(), ${plugins}], ${more} })`,
  })
  for (const [name, source] of Object.entries(packages)) {
    const place = join(cwd, 'node_modules', name)
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.ts' }))
    writeFileSync(join(place, 'index.ts'), source)
  }
  return cwd
}

async function start(cwd: string, env: Record<string, string> = {}): Promise<RunningServer> {
  const loaded = await loadGateway({
    cwd,
    env: { GATEWAY_DATABASE_URL: 'sqlite::memory:', ...env },
    watch: false,
    ports: { log: silentLog },
  })
  running.push(loaded)
  const listening = await serve(loaded.gateway, { host: '127.0.0.1', port: 0 })
  running.push(listening)
  return listening
}

const refusal = (cwd: string): Promise<string> =>
  start(cwd).then(
    () => 'it started',
    (error: Error) => error.message,
  )

const fromVault = () =>
  start(project(NAMED(acme.url), "secret.from('acme-vault', 'llm/acme')", { 'hookgate-provider-acme': PACKAGE }))
const calls = () => acme.seen.filter(({ path }) => path === '/talk')

describe('a provider of a package', () => {
  it.each(DIALECTS)('answers callers of %s, whole and streamed, in its own dialect', async (dialect) => {
    const { url } = await fromVault()
    for (const stream of [false, true]) {
      const response = await post(url, ask(dialect, 'acme/large', { stream, text: 'good morning' }))
      const answer = await response.text()
      expect([response.status, answer]).toEqual([200, expect.stringContaining(stream ? 'morning' : 'You said good morning')])
      // A chat caller gets the usage of a stream on request only.
      if (!(stream && dialect === 'chat')) expect(answer).toMatch(/"(?:prompt_tokens|input_tokens|promptTokenCount)":7/)
      if (stream) expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    }
    expect(calls().map(({ body }) => JSON.parse(body).lines)).toEqual(Array(2).fill([{ role: 'user', text: 'good morning' }]))
    expect(new Set(calls().map(({ token }) => token))).toEqual(new Set(['Bearer token-number-1']))
  })

  it('gets one token for 50 parallel requests', async () => {
    const { url } = await fromVault()
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, ask('chat', 'acme/large'))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect([acme.tokens, calls().length]).toEqual([1, 50])
  })

  it('reports a cut binary stream as a failure of the upstream', async () => {
    const { url } = await fromVault()
    acme.answer = 'cut'
    const response = await post(url, ask('chat', 'acme/large', { stream: true }))
    expect(await response.text()).toContain('"error"')
  })

  it('hides the values of a structured credential that the upstream repeats', async () => {
    const { url } = await fromVault()
    acme.refuse = 10
    const response = await post(url, ask('chat', 'acme/large'))
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(await response.text()).not.toContain('sesame')
  })

  it('reports a request that its dialect cannot carry', async () => {
    const { url } = await fromVault()
    const { path, body } = ask('chat', 'acme/large')
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const response = await post(url, { path, body: { ...body, tools } })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('Acme has no tools')])
  })
})

describe('secrets of a resolver', () => {
  it('reach the options of another plugin', async () => {
    const reader = `import { definePlugin, GatewayError } from 'hookgate'
import { z } from '${ZOD}'
export default definePlugin({ name: 'reader', config: z.strictObject({ word: z.string() }), setup(gateway, { word }) {
  gateway.hook('access', () => { throw GatewayError.forbidden('the word has ' + word.length + ' characters') })
} })`
    const plugins = `${NAMED(acme.url)}, { plugin: 'reader', options: { word: secret.from('acme-vault', 'llm/acme') } }`
    const { url } = await start(project(plugins, "'{}'", { 'hookgate-provider-acme': PACKAGE, reader }))
    const response = await post(url, ask('chat', 'acme/large'))
    expect(await response.text()).toContain(`the word has ${KEY.length} characters`)
    expect(acme.seen.filter(({ path }) => path.startsWith('/vault'))).toHaveLength(1)
  })

  it('refuse the boot with the place when the resolver fails or is missing', async () => {
    const packages = { 'hookgate-provider-acme': PACKAGE }
    expect(await refusal(project(NAMED(acme.url), "secret.from('other-vault', 'x')", packages))).toBe(
      'connections.acme.apiKey: no plugin offers the secret resolver `other-vault`. List the plugin that has it in `plugins`.',
    )
    const closed = NAMED(acme.url).replace(`${acme.url}/vault`, 'http://127.0.0.1:1')
    expect(await refusal(project(closed, "secret.from('acme-vault', 'x')", packages))).toMatch(
      /^connections\.acme\.apiKey: the plugin `provider-acme` could not resolve the secret `x` of `acme-vault`: /,
    )
  })
})

describe('names that plugins offer', () => {
  const offering = (name: string, offers: string) =>
    `import { definePlugin, defineProvider, defineDialect } from 'hookgate'
const provider = (id, dialect = 'chat') => defineProvider({ id, aliases: [], baseUrl: 'http://127.0.0.1:1', dialects: { [dialect]: '' }, quirks: {}, needsKey: false, caps: () => ({ family: id }), dialectFor: () => dialect, authorize() {} })
const dialect = (id) => defineDialect({ id, encodeRequest() {}, decodeResponse() {}, decodeStream() {}, decodeError() {} })
export default definePlugin({ name: '${name}', offers: () => (${offers}), setup() {} })`

  it.each([
    ['provider', "{ providers: [provider('acme')] }", 'acme'],
    ['dialect', "{ dialects: [dialect('tongue')] }", 'tongue'],
    ['secret resolver', "{ secrets: { safe: () => 'x' } }", 'safe'],
    ['storage driver', '{ storage: { memo: () => ({}) } }', 'memo'],
  ])('two of one %s refuse the boot and name both plugins', async (kind, offers, name) => {
    const packages = { one: offering('one', offers), two: offering('two', offers) }
    expect(await refusal(project(`'one', 'two'`, "'x'", packages))).toBe(
      `The plugins \`one\` and \`two\` both offer the ${kind} \`${name}\`. Leave one of them out, or rename it.`,
    )
  })

  it.each([
    ['provider', "{ providers: [provider('openai')] }", 'openai'],
    ['dialect', "{ dialects: [dialect('chat')] }", 'chat'],
  ])('a %s of hookgate cannot be replaced', async (kind, offers, name) => {
    expect(await refusal(project(`'one'`, "'x'", { one: offering('one', offers) }))).toContain(
      `The plugin \`one\` offers the ${kind} \`${name}\`, which hookgate has.`,
    )
  })

  it('a provider with an unknown dialect is refused', async () => {
    expect(await refusal(project(`'one'`, "'x'", { one: offering('one', "{ providers: [provider('acme', 'tongue')] }") }))).toBe(
      'The provider `acme` of the plugin `one` speaks the dialect `tongue`, which no plugin offers.',
    )
  })

  it.each([
    [
      '{ providers: [{ ...provider("acme"), authorize: 1 }] }',
      'The provider `acme` of the plugin `one` is defined wrongly: `authorize` must be a function.',
    ],
    [
      '{ dialects: [{ ...dialect("tongue"), decodeError: null }] }',
      'The dialect `tongue` of the plugin `one` is defined wrongly: `decodeError` must be a function.',
    ],
    [
      '{ dialects: [dialect("Tongue")] }',
      'The dialect `Tongue` of the plugin `one` is defined wrongly: its id must be lower-case words with underscores between them.',
    ],
    ['null', 'The plugin `one` is defined wrongly: `offers` must return an object, and not a promise.'],
  ])('an incomplete offer %s is refused by name', async (offers, message) => {
    expect(await refusal(project(`'one'`, "'x'", { one: offering('one', offers) }))).toBe(message)
  })
})

describe('a storage driver of a package', () => {
  const memo = `import { definePlugin } from 'hookgate'
const kept = new Map()
const store = {
  getItem: async (key) => kept.get(key) ?? null, setItem: async (key, value) => void kept.set(key, value),
  getItemRaw: async (key) => kept.get(key) ?? null, setItemRaw: async (key, value) => void kept.set(key, value),
  hasItem: async (key) => kept.has(key), removeItem: async (key) => void kept.delete(key),
  getKeys: async () => [...kept.keys()], clear: async () => kept.clear(),
}
export default definePlugin({
  name: 'memo-storage',
  offers: () => ({ storage: { memo: (url) => ({ store, close: () => void fetch(url.replace('memo:', 'http:') + '/closed') }) } }),
  async setup(gateway) {
    await gateway.storage.setItem('word', 'kept')
    const seen = [...kept]
    gateway.api({ method: 'GET', path: '/api/memo', summary: 'Kept.', handler: () => ({ seen }) })
  },
})`

  it('holds the values of plugins and is closed with the gateway', async () => {
    const cwd = project(`${NAMED(acme.url)}, 'memo'`, `'${KEY}'`, { 'hookgate-provider-acme': PACKAGE, memo })
    const { url } = await start(cwd, { GATEWAY_STORAGE_URL: acme.url.replace('http:', 'memo:') })
    expect(await (await fetch(`${url}/api/memo`)).json()).toEqual({ seen: [['plugin:memo-storage:word', 'kept']] })
    for (const one of running.splice(0).reverse()) await one.close()
    await expect.poll(() => acme.seen.some(({ path }) => path === '/closed')).toBe(true)
  })

  it('refuses the boot when no plugin has the scheme', async () => {
    const cwd = project(NAMED(acme.url), `'${KEY}'`, { 'hookgate-provider-acme': PACKAGE })
    await expect(start(cwd, { GATEWAY_STORAGE_URL: 'memo://x' })).rejects.toThrow(
      'GATEWAY_STORAGE_URL: no plugin offers the storage driver `memo`.',
    )
  })
})
