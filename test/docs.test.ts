// The documentation is correct: generated parts are current, links have targets, code compiles.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { built, hookgate, hookgateRoot, run } from './adapters/cli/hookgate.ts'
import { command } from './adapters/cli/in-process.ts'
import { asModule, blocks, inScratch, readDoc } from './markdown.ts'

const DOCS = readdirSync(join(hookgateRoot, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
const FILES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...DOCS.map((name) => `docs/${name}`)]

// The tests compile code and run commands.
/** The document says them once. */
const OF_EVERY_COMMAND = ['--no-input', '--quiet', '--wide']

describe('documentation', { timeout: 240_000 }, () => {
  it('generated parts are what `npm run docs` writes', async () => {
    await built()
    expect(await run(['scripts/docs.mjs', '--check'])).toMatchObject({ code: 0, stderr: '' })
  })

  it.each(FILES)('every link in %s leads somewhere', (file) => {
    for (const [, target, anchor] of readDoc(file).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const path = target === '' ? file : join(dirname(file), target as string)
      expect(existsSync(join(hookgateRoot, path)), `${file} → ${path}`).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(path), `${file} → ${path}`).toContain(anchor)
    }
  })

  it('docs/dependencies.md has a row for each dependency, and names files that exist', () => {
    const { dependencies } = JSON.parse(readDoc('package.json')) as { dependencies: Record<string, string> }
    const rows = readDoc('docs/dependencies.md').match(/^\| `.*$/gm) ?? []
    expect(rows.map((row) => row.split('`')[1])).toEqual(Object.keys(dependencies))
    for (const [path] of rows.join('').matchAll(/(?:core|plugins|adapters)\/[\w/.-]+/g))
      expect(existsSync(join(hookgateRoot, path)), path).toBe(true)
  })

  it('all TypeScript in it compiles', async () => {
    const code = FILES.flatMap((file) => blocks(file, 'ts'))
    expect(code.length).toBeGreaterThan(10)
    const files = Object.fromEntries(
      code.map(({ file, line, code: text }) => [`${file.replace(/\W/g, '-')}-line-${line}.ts`, asModule(text)]),
    )
    const tsconfig = JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] })
    await built()
    const { code: status, stdout } = await inScratch({ ...files, 'tsconfig.json': tsconfig }, (path) =>
      run(['node_modules/typescript/bin/tsc', '-p', path]),
    )
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })

  it('every command line in docs/configuration.md exists', async () => {
    const commands = blocks('docs/configuration.md', 'text').concat(blocks('docs/configuration.md', 'sh'))
    expect(commands).toEqual([])
    for (const flag of OF_EVERY_COMMAND) expect(readDoc('docs/configuration.md')).toContain(`\`${flag}\``)
    for (const command of ['serve', 'hooks', 'env']) {
      const { stdout } = await hookgate([command, '--help'])
      const usage =
        readDoc('docs/configuration.md')
          .split('\n')
          .find((line) => line.startsWith(`hookgate ${command}`)) ?? ''
      const said = [...usage.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)
      const real = [...stdout.matchAll(/--[a-z-]+/g)].map(([flag]) => flag).filter((flag) => !OF_EVERY_COMMAND.includes(flag))
      expect(said.sort()).toEqual([...new Set(real)].sort())
    }
  })

  it('every command that exists is in docs/configuration.md, and every one there exists', async () => {
    const lines = readDoc('docs/configuration.md').match(/^hookgate .*$/gm) ?? []
    const said = lines.flatMap((line) =>
      line.split(', hookgate ').flatMap((part) => {
        const [name = '', second = ''] = part.replace(/^hookgate /, '').split(/\s+/)
        const isGroup = /^[a-z]+(\|[a-z]+)+$/.test(second) || ['password', 'audit', 'db', 'master-key'].includes(name)
        return isGroup ? second.split('|').map((one) => `${name} ${one}`) : [name]
      }),
    )
    for (const words of said) expect((await command([...words.split(' '), '--help'])).code, words).toBe(0)
    const [commands = ''] = (await command(['--help'])).stdout.split('Examples')
    const real = [...commands.matchAll(/^\s+`?([a-z-]+)`? {2,}\S/gm)].map(([, name]) => name as string)
    expect(real.length).toBeGreaterThan(15)
    expect(new Set(said.map((words) => words.split(' ')[0]))).toEqual(new Set(real))
  })
})

function anchorsOf(path: string): string[] {
  return [...readDoc(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    (title as string)
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
