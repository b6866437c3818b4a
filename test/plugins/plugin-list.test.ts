// GET /api/plugins: the running plugins, their source, and their failures.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type LoadedGateway, loadGateway } from '../../adapters/node/loading/load-gateway.ts'
import { fakeClock } from '../../adapters/testing/fake-clock.ts'
import { createTestGateway } from '../../adapters/testing/test-gateway.ts'
import { silentLog } from '../../core/log.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { VERSION } from '../../core/version.ts'
import { preset } from '../../plugins/preset.ts'
import { folder } from '../adapters/cli/hookgate.ts'

const ended: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

interface Listed {
  name: string
  version: string | null
  source: string
  specifier: string | null
  generation: number
  hooks: string[]
  routes: string[]
  services: string[]
  state: string
  errors: number
  hook_errors: { hook: string; errors: number }[]
  last_error: { hook: string; at: string } | null
}

async function listed(fetch: (request: Request) => Promise<Response>): Promise<Map<string, Listed>> {
  const response = await fetch(new Request('http://localhost/api/plugins'))
  expect(response.status).toBe(200)
  return new Map(((await response.json()) as { data: Listed[] }).data.map((entry) => [entry.name, entry]))
}

async function loaded(cwd: string): Promise<LoadedGateway> {
  const gateway = await loadGateway({ cwd, env: {}, watch: false, ports: { log: silentLog } })
  ended.push(() => gateway.close())
  return gateway
}

const local = ({ gateway }: LoadedGateway) => listed((request) => gateway.fetch(request, { local: true }))

const ONE = (word: string) => `import { definePlugin } from 'hookgate'
export default definePlugin({ name: 'one', setup(gateway) { gateway.hook('access', () => {}); gateway.log.debug('${word}') } })`
const CONFIG = (connections: string) => `import { defineConfig, definePlugin, preset } from 'hookgate'
const own = definePlugin({ name: 'own', version: '3.2.1', setup() {} })
export default defineConfig({
  connections: { ${connections} },
  plugins: [...preset(), './plugins/one.ts', own()],
})`

it('says what each plugin is and registers', async () => {
  const cwd = folder({ 'gateway.config.ts': CONFIG(`echo: { provider: 'echo' }`), 'package.json': '{ "version": "1.2.3" }' })
  mkdirSync(join(cwd, 'plugins'))
  writeFileSync(join(cwd, 'plugins', 'one.ts'), ONE('first'))
  const gateway = await loaded(cwd)
  const all = await local(gateway)
  expect([...all.keys()]).toEqual([...preset().map(({ name }) => name), 'one', 'own'])
  expect(all.get('one')).toMatchObject({
    source: 'file',
    specifier: './plugins/one.ts',
    version: '1.2.3',
    hooks: ['access'],
    generation: 1,
  })
  expect(all.get('own')).toMatchObject({ source: 'code', specifier: null, version: '3.2.1' })
  expect(all.get('keys')).toMatchObject({ source: 'hookgate', version: VERSION, state: 'running', errors: 0, last_error: null })
  expect(all.get('keys')?.routes).toContain('GET /api/keys')
  expect(all.get('connections')?.services).toEqual(expect.arrayContaining(['connections', 'accounts']))
})

it('a reload sets up what changed, and nothing else', async () => {
  const cwd = folder({
    'gateway.config.ts': CONFIG(`echo: { provider: 'echo' }`).replace('./plugins/', './'),
    'one.ts': ONE('first'),
  })
  const gateway = await loaded(cwd)
  await gateway.reload()
  // A plugin that the configuration file itself defines is new with each run of the file.
  const changed = async () =>
    [...(await local(gateway)).values()].filter(({ generation }) => generation > 1).map(({ name }) => name)
  expect(await changed()).toEqual(['own'])
  writeFileSync(join(cwd, 'one.ts'), ONE('second'))
  await gateway.reload()
  expect(await changed()).toEqual(['one', 'own'])
})

it('keeps the order of the generation before, to compare it with', async () => {
  const cwd = folder({
    'gateway.config.ts': CONFIG(`echo: { provider: 'echo' }`).replace('./plugins/', './'),
    'one.ts': ONE('first'),
  })
  const gateway = await loaded(cwd)
  const sealed = async () => {
    const answer = await gateway.gateway.fetch(new Request('http://localhost/api/plugins'), { local: true })
    const { generation, order, before } = (await answer.json()) as {
      generation: number
      order: { hook: string; plugins: string[] }[]
      before: { generation: number; order: { hook: string; plugins: string[] }[] } | null
    }
    const access = (of: typeof order | undefined) => of?.find(({ hook }) => hook === 'access')?.plugins.includes('one')
    return { generation, now: access(order), before: before && { generation: before.generation, had: access(before.order) } }
  }
  expect(await sealed()).toEqual({ generation: 1, now: true, before: null })
  writeFileSync(join(cwd, 'one.ts'), ONE('second').replace("'access'", "'request'"))
  await gateway.reload()
  expect(await sealed()).toEqual({ generation: 2, now: false, before: { generation: 1, had: true } })
})

it('counts failures, and says so for five minutes', async () => {
  const clock = fakeClock(Date.UTC(2026, 0, 1))
  const faulty = definePlugin({
    name: 'faulty',
    setup(gateway) {
      gateway.hook(
        'access',
        () => {
          throw new Error('with a secret in it')
        },
        { onError: 'open' },
      )
    },
  })
  const t = await createTestGateway({
    config: { connections: { echo: { provider: 'echo' } }, plugins: [...preset(), faulty()] },
    ports: { clock, log: silentLog },
  })
  ended.push(() => t.close())
  for (let i = 0; i < 2; i++)
    await t.post('/v1/chat/completions', { model: 'echo/echo-1', messages: [{ role: 'user', content: 'x' }] })
  const of = async () => (await listed((request) => t.fetch(new URL(request.url).pathname))).get('faulty')
  expect(await of()).toMatchObject({
    state: 'degraded',
    errors: 2,
    hook_errors: [{ hook: 'access', errors: 2 }],
    last_error: { hook: 'access', at: '2026-01-01T00:00:00.000Z' },
  })
  expect(JSON.stringify(await of())).not.toContain('secret')
  await clock.advance(5 * 60_000)
  expect(await of()).toMatchObject({ state: 'running', errors: 2 })
})

it('counts how often hooks ran and refused, in requests of anybody', async () => {
  const t = await createTestGateway({ env: { REQUIRE_API_KEY: 'true' } })
  const { key } = (await (await t.post('/api/keys', { label: 'a', allowed_models: ['chat/*'] })).json()) as { key: string }
  const ask = (model: string, headers = {}) =>
    t.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'x' }] }, headers)
  const runs = async (name: string, hook: string) => {
    const { data } = (await (await t.fetch('/api/plugins')).json()) as {
      data: { name: string; hook_runs: { hook: string; ran: number; refused: number }[] }[]
    }
    return data.find((one) => one.name === name)?.hook_runs.find((one) => one.hook === hook)
  }
  expect(await runs('keys', 'authenticate')).toEqual({ hook: 'authenticate', ran: 0, refused: 0 })
  const bearer = { authorization: `Bearer ${key}` }
  const statuses = []
  for (const [model, headers] of [
    ['chat/m', bearer],
    ['chat/m', bearer],
    ['messages/m', bearer],
    ['chat/m', {}],
  ] as const)
    statuses.push((await ask(model, headers)).status)
  expect(statuses).toEqual([200, 200, 403, 401])
  expect(await runs('keys', 'authenticate')).toMatchObject({ ran: 4, refused: 0 })
  expect(await runs('keys', 'access')).toMatchObject({ ran: 2, refused: 1 })
  await t.close()
})
