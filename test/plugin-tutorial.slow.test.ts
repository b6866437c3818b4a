// The plugin of docs/plugins/tutorial.md passes the tests that the tutorial writes for it.
import { expect, it } from 'vitest'
import { built, run } from './adapters/cli/hookgate.ts'
import { type Block, blocks, inScratch } from './markdown.ts'

it('its plugin passes its tests', { timeout: 240_000 }, async () => {
  const plugin = blocks('docs/plugins/tutorial.md', 'ts').find(({ code }) => code.includes('definePlugin({')) as Block
  const tests = blocks('docs/plugins/tutorial.md', 'typescript')[0] as Block
  // The kit measures latency. Here other tests run beside it and would be measured too.
  const patient = tests.code.replace(
    'pluginConformance(() => nightRest())',
    'pluginConformance(() => nightRest(), { latencyMs: 1000 })',
  )
  expect(patient).toContain('latencyMs')
  const files = { 'index.ts': plugin.code, 'index.test.ts': patient, 'vitest.config.ts': 'export default {}' }
  await built()
  const { code, stdout } = await inScratch(files, (path) =>
    run(['node_modules/vitest/vitest.mjs', 'run', '--retry', '2', '--root', path]),
  )
  expect(stdout).toMatch(/Tests .*passed/)
  expect(code, stdout).toBe(0)
})
