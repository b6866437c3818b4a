// Which files of a configuration are followed, and which plugins a reload sets up again.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { type LoadedGateway, loadGateway } from '../../../adapters/node/loading/load-gateway.ts'
import { silentLog } from '../../../core/log.ts'
import { folder } from '../cli/hookgate.ts'
import { ask, eventually } from './support.ts'

const opened: LoadedGateway[] = []
afterEach(async () => {
  for (const loaded of opened.splice(0)) await loaded.close()
})

/** Answers requests with the word of its load, and the number of requests since its set-up. */
const counter = (name: string, head: string, word: string, more = '') => `import { definePlugin, GatewayError } from 'hookgate'
${head}
export default definePlugin({
  name: '${name}',
  ${more}
  setup(gateway) {
    let asked = 0
    gateway.hook('access', (ctx) => {
      if (ctx.requestedModel === 'echo/${name}') throw GatewayError.forbidden(${word} + ' ' + ++asked)
    })
  },
})
`
const configOf = (plugins: string, connections = `echo: { provider: 'echo' }`) => `import { defineConfig, preset } from 'hookgate'
export default defineConfig({ connections: { ${connections} }, plugins: [...preset(), ${plugins}] })
`

interface Project {
  save(file: string, text: string): void
  reload(): Promise<void>
  /** Returns the answer of the plugin with this name. */
  said(plugin: string): Promise<string>
}

async function project(files: Record<string, string>, watch = false): Promise<Project> {
  const cwd = folder({})
  const save = (file: string, text: string): void => {
    const path = join(cwd, file)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
  }
  for (const [file, text] of Object.entries(files)) save(file, text)
  const loaded = await loadGateway({ cwd, env: {}, watch, ports: { log: silentLog } })
  opened.push(loaded)
  return {
    save,
    reload: () => loaded.reload(),
    async said(plugin) {
      const { path, body } = ask('chat', `echo/${plugin}`)
      const request = new Request(`http://localhost${path}`, { method: 'POST', body: JSON.stringify(body) })
      const answer = (await (await loaded.gateway.fetch(request)).json()) as { error?: { message: string } }
      return answer.error?.message ?? 'an answer'
    },
  }
}

const HELPERS = [
  ['ts', `export const word: string = 'WORD'`, `import { word } from './deep/word.ts'`],
  ['mjs', `export const word = 'WORD'`, `import { word } from './deep/word.mjs'`],
  ['js', `export const word = 'WORD'`, `import { word } from './deep/word.js'`],
  ['cjs', `module.exports = { word: 'WORD' }`, `import loaded from './deep/word.cjs'\nconst { word } = loaded`],
  ['json', `{ "word": "WORD" }`, `import loaded from './deep/word.json' with { type: 'json' }\nconst { word } = loaded`],
] as const

it.each(HELPERS)('a saved .%s file that a plugin imports is loaded', async (extension, text, head) => {
  const file = `plugins/deep/word.${extension}`
  const { save, said } = await project(
    {
      'gateway.config.ts': configOf(`'./plugins/one.ts'`),
      'plugins/one.ts': counter('one', head, 'word'),
      [file]: text.replace('WORD', 'first'),
    },
    true,
  )
  expect(await said('one')).toBe('first 1')
  save(file, text.replace('WORD', 'second'))
  await eventually(async () => (await said('one')).startsWith('second'))
})

it.each(['ts', 'mjs', 'js'])('a saved .%s file that the configuration imports is loaded', async (extension) => {
  const { save, said } = await project(
    {
      'gateway.config.ts': `import one from './one.${extension}'\n${configOf('one()')}`,
      [`one.${extension}`]: counter('one', '', `'first'`),
    },
    true,
  )
  expect(await said('one')).toBe('first 1')
  save(`one.${extension}`, counter('one', '', `'second'`))
  await eventually(async () => (await said('one')).startsWith('second'))
})

it('a file that was missing is loaded when it is there', async () => {
  const { save, said } = await project(
    { 'gateway.config.ts': configOf(`'./one.ts'`), 'one.ts': counter('one', '', `'first'`) },
    true,
  )
  save('one.ts', counter('one', `import { word } from './word'`, 'word'))
  save('word.ts', `export const word = 'late'`)
  await eventually(async () => (await said('one')).startsWith('late'))
})

it('a comment and a string that look like imports are not run', async () => {
  const { said } = await project({
    'gateway.config.ts': configOf(`'./one.mjs'`),
    'one.mjs': counter('one', `// import './bad.mjs'\n/* import './bad.mjs' */`, `'first'`),
    'bad.mjs': `throw new Error('it ran')`,
  })
  expect(await said('one')).toBe('first 1')
})

it('an unchanged plugin keeps its state, a changed one and one whose import changed start anew', async () => {
  const { save, said, reload } = await project({
    'gateway.config.ts': configOf(`'./same.ts', './saved.mjs', { plugin: './helped.ts' }, './needs.ts'`),
    'same.ts': counter('same', '', `'same'`),
    'saved.mjs': counter('saved', '', `'saved'`),
    'helped.ts': counter('helped', `import { word } from './word.ts'`, 'word'),
    'needs.ts': counter('needs', '', `'needs'`, `requires: ['connections'],`),
    'word.ts': `export const word = 'helped'`,
  })
  const all = async () => Promise.all(['same', 'saved', 'helped', 'needs'].map(said))
  expect(await all()).toEqual(['same 1', 'saved 1', 'helped 1', 'needs 1'])
  await reload()
  expect(await all()).toEqual(['same 2', 'saved 2', 'helped 2', 'needs 2'])
  save('saved.mjs', counter('saved', '', `'changed'`))
  await reload()
  expect(await all()).toEqual(['same 3', 'changed 1', 'helped 3', 'needs 3'])
  save('word.ts', `export const word = 'other'`)
  await reload()
  expect(await all()).toEqual(['same 4', 'changed 2', 'other 1', 'needs 4'])
})

it('a new connection keeps plugins, also those that require the plugin `connections`', async () => {
  const plugins = `'./same.ts', './needs.ts'`
  const { save, said, reload } = await project({
    'gateway.config.ts': configOf(plugins),
    'same.ts': counter('same', '', `'same'`),
    'needs.ts': counter('needs', '', `'needs'`, `requires: ['connections'],`),
  })
  expect([await said('same'), await said('needs')]).toEqual(['same 1', 'needs 1'])
  save('gateway.config.ts', configOf(plugins, `echo: { provider: 'echo' }, more: { provider: 'echo' }`))
  await reload()
  expect([await said('same'), await said('needs')]).toEqual(['same 2', 'needs 2'])
})
