// The picture of `hookgate hooks`.
import { expect, it } from 'vitest'
import { pipelinePicture } from '../../../adapters/cli/installation/pipeline-picture.ts'
import { HOOK_NAMES } from '../../../core/hooks/catalogue.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const cwd = folder({
  'gateway.config.ts': `import { defineConfig, definePlugin, preset } from 'hookgate'
    const mine = definePlugin({ name: 'mine', setup: (g) => g.hook('access', () => {}, { after: 'keys', onError: 'open', when: () => true }) })
    export default defineConfig({ plugins: [...preset(), mine()] })`,
})

it('shows each hook once in the order of a request, with its plugins below it, and marks those of your own', async () => {
  const { code, stdout } = await command(['hooks'], { cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^Before routing .*\n {2}ingress +▸ authenticate ▸ access +▸ resolve\n {2}helicone \? +keys +helicone \?/,
  )
  expect(stdout).toMatch(/\n +mine ★\?~ /)
  expect(stdout).toMatch(/┏ Each attempt +once per try\n┃ attempt +▸ prepare .* TRANSPORT .*\n┃ virtual-models \?/)
  expect(stdout).toContain('★ your own plugin')
  const rows = stdout.split('\n').filter((line) => line.includes('▸'))
  const words = rows.join(' ').split(/\s+/)
  for (const hook of HOOK_NAMES)
    expect(
      words.filter((word) => word === hook),
      hook,
    ).toHaveLength(1)
})

it('fits the terminal: the next hooks stand below', () => {
  const sealed = HOOK_NAMES.map((hook) => ({ hook, kind: 'series', handlers: [] })) as never
  for (const columns of [40, 60, 120]) {
    const lines = pipelinePicture(sealed, new Set(), columns).split('\n').slice(0, -1)
    expect(Math.max(...lines.filter((line) => line.includes('▸')).map((line) => line.length))).toBeLessThanOrEqual(columns)
  }
  expect(pipelinePicture(sealed, new Set(), 40)).toMatch(/\n┃ ▸ encoded ▸ TRANSPORT ▸ \(decode\)\n/)
})

it('is drawn with plain characters where the locale has no others', async () => {
  const { stdout } = await command(['hooks'], { cwd, env: { LC_ALL: 'C' } })
  expect(stdout).toMatch(/^ {2}ingress +> authenticate > access/m)
  expect(stdout).toMatch(/^\+ Each attempt/m)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
  expect(stdout).toMatch(/^[\x00-\x7f]*$/)
})
