// Plugins by the name of their package and by path, and the messages about those that cannot be loaded.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createGateway } from '../../../adapters/node/gateway.ts'
import { type LoadedGateway, loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { loadPlugin } from '../../../adapters/node/loading/load-plugin.ts'
import { silentLog } from '../../../core/log.ts'
import { definePlugin } from '../../../core/plugins/define.ts'
import { VERSION } from '../../../core/version.ts'
import { folder } from '../cli/hookgate.ts'
import { ask } from './support.ts'

const opened: LoadedGateway[] = []
afterEach(async () => {
  for (const loaded of opened.splice(0)) await loaded.close()
})

/** Refuses every request with a given word. */
const source = (name: string) => `import { definePlugin, GatewayError } from 'hookgate'
import { z } from 'zod'
export default definePlugin({
  name: '${name}',
  config: z.strictObject({ word: z.string().default('no word') }),
  setup(gateway, { word }) {
    gateway.hook('access', () => { throw GatewayError.forbidden('${name} says ' + word) })
  },
})
`
const PACKAGES = join(import.meta.dirname, '../../../node_modules/zod')

function project(plugins: string, files: Record<string, string> = {}): string {
  const cwd = folder({
    'gateway.config.ts': `import { defineConfig, preset } from 'hookgate'
export default defineConfig({ connections: { echo: { provider: 'echo' } }, plugins: [...preset(), ${plugins}] })`,
    ...files,
  })
  return cwd
}

function installed(cwd: string, name: string, text: string): string {
  const place = join(cwd, 'node_modules', name)
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports: './index.js' }))
  writeFileSync(join(place, 'index.js'), text)
  return cwd
}

async function refusalOf(cwd: string): Promise<string> {
  const loaded = await loadGateway({ cwd, env: {}, watch: false, ports: { log: silentLog } })
  opened.push(loaded)
  const { path, body } = ask('chat', 'echo/echo-1')
  const response = await loaded.gateway.fetch(
    new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) }),
  )
  return ((await response.json()) as { error: { message: string } }).error.message
}

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it loaded',
    (error: Error) => error.message,
  )
const failureOf = (cwd: string) => failure(loadGateway({ cwd, env: {}, watch: false, ports: { log: silentLog } }))

/** zod is installed where a plugin of another folder finds it. */
const withoutZod = (text: string) => text.replace("'zod'", `'${PACKAGES}/index.js'`)

describe('a plugin that a configuration file names', () => {
  it('is loaded by path, as seen from the file, with its options', async () => {
    const plugins = `{ plugin: './mine/words.ts', options: { word: 'never' } }`
    const cwd = project(plugins)
    mkdirSync(join(cwd, 'mine'))
    writeFileSync(join(cwd, 'mine', 'words.ts'), withoutZod(source('words')))
    expect(await refusalOf(cwd)).toBe('words says never')
  })

  it('is loaded by the name of its package', async () => {
    const cwd = installed(project(`'hookgate-plugin-words'`), 'hookgate-plugin-words', withoutZod(source('words')))
    expect(await refusalOf(cwd)).toBe('words says no word')
  })

  it('is loaded by the name of a package in a scope', async () => {
    const cwd = installed(project(`'@acme/words'`), '@acme/words', withoutZod(source('scoped')))
    expect(await refusalOf(cwd)).toBe('scoped says no word')
  })

  it.each([
    [
      'a package that is not installed',
      `'hookgate-plugin-nowhere'`,
      /gateway\.config\.ts: plugins\.\d+: .*npm install hookgate-plugin-nowhere/,
    ],
    ['a file that is not there', `'./nowhere.ts'`, /`\.\/nowhere\.ts` does not exist: there is no \/.*nowhere\.ts/],
    ['an address', `'https://example.com/plugin.js'`, /is an address: plugins are loaded from packages and files/],
    ['a name that is none', `'no such name'`, /neither the name of a package nor a path/],
    ['a file that is no plugin', `'./other.ts'`, /`\.\/other\.ts` is no plugin: .* exports a, b/],
    ['a setup that is exported bare', `'./bare.ts'`, /could not be made: .*If its default export is the setup itself, wrap it/],
    ['a function that makes nothing', `'./idle.ts'`, /is a function that returned nothing\. Wrap it: .*definePlugin/],
    ['a file that does not load', `'./broken.ts'`, /`\.\/broken\.ts` could not be loaded: it breaks/],
    [
      'wrong options',
      `{ plugin: './words.ts', options: { wrod: 'x' } }`,
      /plugin `words` got wrong options: plugins\.\d+\.options: .*wrod/,
    ],
  ])('%s stops the boot and is named', async (_what, plugins, message) => {
    const cwd = project(plugins, {
      'other.ts': 'export const a = 1, b = 2',
      'bare.ts': `export default (gateway) => gateway.hook('access', () => {})`,
      'idle.ts': 'export default () => {}',
      'broken.ts': `throw new Error('it breaks')`,
      'words.ts': withoutZod(source('words')),
    })
    expect(await failureOf(cwd)).toMatch(message)
  })
})

describe('loadPlugin', () => {
  it('takes the only export of a module, and a plugin that is made already', async () => {
    const cwd = folder({
      'named.js': withoutZod(source('named')).replace('export default', 'export const named ='),
      'made.js': `${withoutZod(source('made')).replace('export default', 'const made =')}\nexport default made({ word: 'yes' })`,
    })
    const from = join(cwd, 'gateway.config.ts')
    expect((await loadPlugin('./named.js', { word: 'x' }, from)).name).toBe('named')
    expect(await loadPlugin(`file://${cwd}/made.js`, {}, from)).toMatchObject({ name: 'made', options: { word: 'yes' } })
    expect(await failure(loadPlugin('./made.js', { word: 'x' }, from))).toMatch(/takes no options/)
  })
})

describe('the version of the plugin API', () => {
  const made = definePlugin({ name: 'aged', setup() {} })()

  it.each([
    [0, /`aged` was made for plugin API 0; hookgate .* has plugin API 1\. Update the plugin/],
    [2, /`aged` was made for plugin API 2; hookgate .* has plugin API 1\. Update hookgate/],
    [undefined, /`aged` was made for no plugin API that it names/],
  ])('%s is refused at boot, and both versions are said', async (apiVersion, message) => {
    const aged = { ...made, apiVersion: apiVersion as number }
    const said = await failure(createGateway({ plugins: [aged] }))
    expect(said).toMatch(message)
    expect(said).toContain(VERSION)
  })

  it('is refused at a reload, and what was there goes on', async () => {
    const gateway = await createGateway({ plugins: [made] })
    expect(await failure(gateway.reload({ plugins: [{ ...made, apiVersion: 2 }] }))).toMatch(/plugin API 2/)
    expect(gateway.hooks.length).toBeGreaterThan(0)
    await gateway.close()
  })

  it('a name outside a configuration file is said to be one', async () => {
    expect(await failure(createGateway({ plugins: ['words' as never] }))).toMatch(/plugins\.0: .*loadPlugin/)
  })
})
