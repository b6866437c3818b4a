// `hookgate plugin new`: the plugin that it writes loads, runs and passes the contract of plugins.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { importModule } from '../../../adapters/node/loading/import-module.ts'
import { loadPlugin } from '../../../adapters/node/loading/load-plugin.ts'
import { pluginConformance } from '../../../adapters/testing/plugin-conformance/plugin-conformance.ts'
import { createTestGateway } from '../../../adapters/testing/test-gateway.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'
import { folder, hookgateRoot } from './hookgate.ts'
import { command } from './in-process.ts'

/** With the packages that `npm install` would install. */
function site(): string {
  const cwd = folder({})
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(join(hookgateRoot, 'node_modules', 'zod'), join(cwd, 'node_modules', 'zod'))
  return cwd
}

it('lists the files that it writes, with --json', async () => {
  const cwd = folder({})
  const { code, stdout } = await command(['plugin', 'new', 'tally', '--json'], { cwd })
  expect(code).toBe(0)
  const made = JSON.parse(stdout) as { name: string; folder: string; files: string[] }
  expect(made).toMatchObject({ name: 'tally', folder: expect.stringMatching(/tally$/) })
  expect(made.files.filter((file) => !existsSync(join(made.folder, file)))).toEqual([])
  expect(made.files).toContain('package.json')
})

it('writes a plugin that loads by its path and keeps the contract', async () => {
  const cwd = site()
  const written = await command(['plugin', 'new', 'late-answers'], { cwd })
  expect(written).toMatchObject({ code: 0, stdout: `${join(cwd, 'late-answers')}\n` })
  expect(readdirSync(join(cwd, 'late-answers')).sort()).toEqual([
    'README.md',
    'index.test.ts',
    'index.ts',
    'package.json',
    'tsconfig.json',
    'tsconfig.test.json',
  ])
  const from = join(cwd, 'gateway.config.ts')
  const made = await loadPlugin('./late-answers/index.ts', { overMs: 0 }, from)
  expect(made).toMatchObject({ name: 'late-answers', options: { overMs: 0 } })
  const t = await createTestGateway({ plugins: [made] })
  await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
  await t.untilSettled()
  expect(await (await t.fetch('/metrics')).text()).toMatch(/gateway_late_answers_slow_total 1/)
  await t.close()

  const { lateAnswers } = (await importModule(join(cwd, 'late-answers', 'index.ts'))) as { lateAnswers(): Plugin }
  for (const { name, run } of pluginConformance(() => lateAnswers(), { latencyMs: 250 }))
    if (/^chat|leaves|500/.test(name)) await run()
}, 60_000)

it('names the package, this version of hookgate, and the kit that tests it', async () => {
  const cwd = site()
  await command(['plugin', 'new', 'slow-log', '--dir', 'here'], { cwd })
  const read = (file: string) => readFileSync(join(cwd, 'here', file), 'utf8')
  const { version } = JSON.parse(readFileSync(join(hookgateRoot, 'package.json'), 'utf8')) as { version: string }
  expect(JSON.parse(read('package.json'))).toMatchObject({
    name: 'hookgate-plugin-slow-log',
    exports: { types: './dist/index.d.ts', default: './dist/index.js' },
    peerDependencies: { hookgate: `^${version}` },
    hookgate: { api: 1, hooks: ['settled'], permissions: [] },
    // From a checkout, before there is a published version.
    devDependencies: { hookgate: `file:${hookgateRoot.replace(/\/$/, '')}` },
  })
  expect(read('index.test.ts')).toContain('pluginConformance(() => slowLog())')
  expect(read('index.test.ts')).toContain("toContain('gateway_slow_log_slow_total 1')")
})

it('refuses a name that cannot be one with 2, and a folder that is there with 1', async () => {
  const cwd = site()
  for (const name of ['Slow', 'a_b', '../up', '-x-', 'a--b']) {
    expect((await command(['plugin', 'new', name], { cwd })).code, name).toBe(2)
  }
  expect(await command(['plugin', 'new'], { cwd })).toMatchObject({ code: 2 })
  await command(['plugin', 'new', 'hookgate-plugin-twice'], { cwd })
  const again = await command(['plugin', 'new', 'twice'], { cwd })
  expect(again.code).toBe(1)
  expect(again.stderr).toMatch(/exists already/)
  expect(existsSync(join(cwd, 'up'))).toBe(false)
})

it.each([
  ['class', 'classPlugin'],
  ['run', 'runPlugin'],
  ['define-plugin', 'definePluginPlugin'],
])('a plugin named %s is exported under a name that nothing else has', async (name, exported) => {
  const cwd = site()
  expect((await command(['plugin', 'new', name], { cwd })).code).toBe(0)
  const module = await importModule(join(cwd, name, 'index.ts'))
  expect(module[exported]).toBeTypeOf('function')
  expect(readFileSync(join(cwd, name, 'index.test.ts'), 'utf8')).toContain(`pluginConformance(() => ${exported}())`)
})

it('refuses the name of a plugin that is there already', async () => {
  const { code, stderr } = await command(['plugin', 'new', 'keys'], { cwd: site() })
  expect(code).toBe(2)
  expect(stderr).toMatch(/hookgate has a plugin .?keys.? itself/)
})
