// hookgate plugins, and hookgate plugin check.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PLUGIN_API_VERSION } from '../../../core/plugins/define.ts'
import { preset } from '../../../plugins/preset.ts'
import { folder } from './hookgate.ts'
import { command } from './in-process.ts'

const SOURCE = `import { definePlugin } from 'hookgate'
export default definePlugin({
  name: 'words',
  setup(gateway) {
    gateway.hook('access', () => {})
    gateway.api({ method: 'GET', path: '/api/words', summary: 'Words.', handler: () => ({}) })
  },
})
`
const MANIFEST = {
  name: 'hookgate-plugin-words',
  version: '0.3.0',
  type: 'module',
  exports: './dist/index.js',
  keywords: ['hookgate-plugin'],
  peerDependencies: { hookgate: '*' },
  hookgate: { api: PLUGIN_API_VERSION, hooks: ['access'], permissions: ['routes'] },
}

function packed(manifest: object, source = SOURCE): string {
  const dir = folder({})
  for (const [file, text] of Object.entries({ 'package.json': JSON.stringify(manifest), 'dist/index.js': source })) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), text)
  }
  return dir
}

interface Finding {
  check: string
  status: string
  message: string
  fix?: string
}

async function checked(cwd: string, ...flags: string[]): Promise<{ code: number | null; findings: Finding[] }> {
  const { code, stdout } = await command(['plugin', 'check', '--json', ...flags], { cwd })
  return { code, findings: (JSON.parse(stdout) as { data: Finding[] }).data }
}

describe('hookgate plugin check', () => {
  it('finds nothing wrong with a package that keeps the conventions', async () => {
    const { code, findings } = await checked(packed(MANIFEST))
    expect(findings.map(({ check, status }) => [check, status])).toEqual([
      ['conventions', 'ok'],
      ['set-up', 'ok'],
      ['declaration', 'ok'],
    ])
    expect(code).toBe(0)
    const { stdout } = await command(['plugin', 'check', '--folder', packed(MANIFEST)], { cwd: folder({}) })
    expect(stdout).toMatch(/^✓ {2}set-up +`words` loads from .*registers access\.$/m)
  })

  const { hookgate, ...undeclared } = MANIFEST
  const { peerDependencies, ...alone } = MANIFEST
  it.each([
    ['a foreign name', { ...MANIFEST, name: 'words' }, 'name', 'warn', 0],
    ['no keyword', { ...MANIFEST, keywords: [] }, 'keywords', 'warn', 0],
    ['CommonJS', { ...MANIFEST, type: 'commonjs' }, 'type', 'fail', 1],
    ['hookgate as a dependency', { ...alone, dependencies: peerDependencies }, 'dependencies', 'fail', 1],
    ['no peer dependency', alone, 'peerDependencies', 'fail', 1],
    ['no declaration', undeclared, 'hookgate', 'warn', 0],
    [
      'a declaration with a wrong permission',
      { ...MANIFEST, hookgate: { ...hookgate, permissions: ['all'] } },
      'hookgate',
      'fail',
      1,
    ],
    ['another plugin API', { ...MANIFEST, hookgate: { ...hookgate, api: 99 } }, 'hookgate', 'fail', 1],
    ['a hook it does not declare', { ...MANIFEST, hookgate: { ...hookgate, hooks: [] } }, 'hooks', 'fail', 1],
    [
      'a hook it does not register',
      { ...MANIFEST, hookgate: { ...hookgate, hooks: ['access', 'response'] } },
      'hooks',
      'warn',
      0,
    ],
    ['routes it does not declare', { ...MANIFEST, hookgate: { ...hookgate, permissions: [] } }, 'permissions', 'fail', 1],
    ['a build that is not there', { ...MANIFEST, exports: './lib/index.js' }, 'entry', 'fail', 1],
    ['a path that Node refuses', { ...MANIFEST, exports: { '.': { default: 'dist/index.js' } } }, 'entry', 'fail', 1],
  ])('finds %s', async (_what, manifest, check, status, exit) => {
    const { code, findings } = await checked(packed(manifest))
    const bad = findings.filter((finding) => finding.status !== 'ok')
    expect(bad).toEqual([expect.objectContaining({ check, status })])
    expect(bad[0]?.fix).toBeDefined()
    expect(code).toBe(exit)
  })

  it('names what keeps the plugin from loading, and takes options', async () => {
    const broken = await checked(packed(MANIFEST, 'export default 7'))
    expect(broken.findings).toContainEqual(
      expect.objectContaining({ check: 'set-up', status: 'fail', message: expect.stringMatching(/is no plugin/) }),
    )
    const strict = `import { definePlugin } from 'hookgate'
import { z } from '${join(import.meta.dirname, '../../../node_modules/zod/index.js')}'
export default definePlugin({ name: 'words', config: z.strictObject({ word: z.string() }), setup(gateway) { gateway.hook('access', () => {}) } })`
    const dir = packed(MANIFEST, strict)
    expect((await checked(dir)).findings).toContainEqual(
      expect.objectContaining({ status: 'fail', message: expect.stringMatching(/word/) }),
    )
    expect((await checked(dir, '--options', '{"word":"x"}')).code).toBe(0)
    expect(await command(['plugin', 'check', '--options', '7'], { cwd: dir })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/JSON object/),
    })
  })

  it('names a folder without a manifest, and a manifest that is none', async () => {
    for (const dir of [folder({}), folder({ 'package.json': '{' }), folder({ 'package.json': '{}' })]) {
      const { code, findings } = await checked(dir)
      expect([code, findings.map(({ check }) => check)]).toEqual([1, ['manifest']])
    }
  })
})

describe('hookgate plugins', () => {
  it('lists the plugins of the configuration and creates nothing', async () => {
    const cwd = packed(MANIFEST)
    writeFileSync(
      join(cwd, 'gateway.config.ts'),
      `import { defineConfig, preset } from 'hookgate'
export default defineConfig({ plugins: [...preset(), './dist/index.js'] })`,
    )
    const { code, stdout } = await command(['plugins', '--json'], { cwd })
    expect(code).toBe(0)
    const { data } = JSON.parse(stdout) as { data: { name: string }[] }
    expect(data.map(({ name }) => name)).toEqual([...preset().map(({ name }) => name), 'words'])
    expect(data.at(-1)).toMatchObject({ source: 'file', version: '0.3.0', hooks: ['access'], routes: ['GET /api/words'] })
    const text = (await command(['plugins'], { cwd })).stdout
    expect(text).toMatch(/^words +0\.3\.0 +\.\/dist\/index\.js +access +1/m)
  })
})
