// A plain configuration file runs without jiti; every other file is left to it.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from '../../../adapters/node/loading/load-config.ts'
import { plainModule } from '../../../adapters/node/loading/plain-module.ts'

function written(source: string, name = 'gateway.config.ts'): string {
  const path = join(mkdtempSync(join(tmpdir(), 'plain-')), name)
  writeFileSync(path, source)
  return path
}

const ECHO = "export default defineConfig({ connections: { echo: { provider: 'echo' } } })\n"

it.each([
  ['one import', `import { defineConfig } from 'hookgate'\n\n${ECHO}`],
  ['no import', "export default { connections: { echo: { provider: 'echo' } } }\n"],
  ['double quotes, semicolons and several lines', `import {\n  defineConfig,\n  secret,\n} from "hookgate";\n${ECHO}`],
  ['a type beside the value', `import { type ConnectionConfig, defineConfig } from 'hookgate'\n${ECHO}`],
  ['an import of types', `import { defineConfig } from 'hookgate'\nimport type { GatewayConfig } from 'hookgate'\n${ECHO}`],
  ['another name', `import { defineConfig as made } from 'hookgate'\n${ECHO.replace('defineConfig', 'made')}`],
  [
    'comments that look like code',
    `// import { x } from './x.ts'\nimport { defineConfig } from 'hookgate'\n/* export default \`1\` */\n${ECHO}`,
  ],
  [
    'values above the export',
    `import { defineConfig } from 'hookgate'\nconst provider = 'echo'\n${ECHO.replace("'echo'", 'provider')}`,
  ],
  ['a string with an address', `import { defineConfig } from 'hookgate'\nconst url = 'http://a/b'\nurl.trim()\n${ECHO}`],
])('a file with %s is plain, and is read as jiti reads it', async (_, source) => {
  const plain = plainModule(written(source))
  expect(plain).not.toBeNull()
  expect(await plain?.run()).toEqual({ default: { connections: { echo: { provider: 'echo' } } } })
  // A regular expression is for jiti.
  expect(await loadConfig(written(`${source}\nconst forJiti = /x/`))).toEqual((await plain?.run())?.default)
})

it.each([
  ['without an expression', `\`https://a.example/v1 // "x" 'y' <b> \\\\ import\``, true],
  ['with an expression', `\`\${url}/v1 \${ url.length + 1 } $5\``, true],
  ['with an escaped expression', `\`\\\${ url("x") }\``, true],
  ['on two lines', `\`a\n\${url}\``, true],
  ['that is empty', '``', true],
  ['with a call', `\`\${String(url)}\``, false],
])('a template %s is plain', async (_, template, declares) => {
  const source = `import { defineConfig } from 'hookgate'\nconst url = 'x'\nexport default { label: ${template} }\n`
  const plain = plainModule(written(source))
  const expected = new Function('url', `return ${template}`)('x')
  expect([plain?.declares, await plain?.run()]).toEqual([declares, { default: { label: expected } }])
})

it('the file that runs gets the same functions as the running code, and the graph has its text', async () => {
  const source = "import { metrics } from 'hookgate/plugins/metrics'\nexport default { plugins: [metrics()] }\n"
  const path = written(source)
  const { metrics } = await import('../../../plugins/metrics/index.ts')
  const plain = plainModule(path)
  expect(((await plain?.run())?.default as { plugins: { definition: object }[] }).plugins[0]?.definition).toBe(
    metrics().definition,
  )
  expect([...(plain?.graph.files.values() ?? [])]).toMatchObject([{ path, source, imports: [] }])
})

it.each([
  ['types', `import { defineConfig } from 'hookgate'\nconst a = 1 as number\n${ECHO}`],
  ['a type argument', `import { defineConfig } from 'hookgate'\nconst list = new Set<string>(['a'])\n${ECHO}`],
  ['a file of its own', `import { defineConfig } from 'hookgate'\nimport { a } from './a.ts'\n${ECHO}`],
  ['a package', `import { defineConfig } from 'hookgate'\nimport { a } from 'a'\n${ECHO}`],
  ['a default import', `import gate from 'hookgate'\nexport default gate.defineConfig({})\n`],
  ['a dynamic import', `import { defineConfig } from 'hookgate'\nconst a = import('./a.ts')\n${ECHO}`],
  ['a string in a template', `import { defineConfig } from 'hookgate'\nconst a = \`\${"}"}\`\n${ECHO}`],
  ['a template in a template', `import { defineConfig } from 'hookgate'\nconst a = \`\${\`\${1}\`}\`\n${ECHO}`],
  ['a tagged template', `import { defineConfig } from 'hookgate'\nconst a = String.raw /* a */ \`a\`\n${ECHO}`],
  ['a template without an end', `import { defineConfig } from 'hookgate'\nconst a = \`\${1}\n${ECHO}`],
  ['a foreign word in a template', `import { defineConfig } from 'hookgate'\nconst a = \`\${require}\`\n${ECHO}`],
  ['a regular expression', `import { defineConfig } from 'hookgate'\nconst a = /'/\n${ECHO}`],
  ['await at its top', `import { defineConfig } from 'hookgate'\nawait 1\n${ECHO}`],
  ['a second export', `import { defineConfig } from 'hookgate'\nexport const a = 1\n${ECHO}`],
  ['no export', "import { defineConfig } from 'hookgate'\nmodule.exports = defineConfig({})\n"],
  ['import.meta', `import { defineConfig } from 'hookgate'\nconst a = import.meta.url\n${ECHO}`],
  ['a syntax error', `import { defineConfig } from 'hookgate'\nconst = 1\n${ECHO}`],
])('a file with %s is not plain', (_, source) => {
  expect(plainModule(written(source))).toBeNull()
})

it('an error of a plain file has the line of the file in its stack', async () => {
  const path = written(
    "import {\n  defineConfig,\n} from 'hookgate'\nconst missing = undefined\nexport default defineConfig(missing.a)\n",
  )
  const error = await loadConfig(path).catch((thrown: Error) => thrown)
  expect((error as Error).message).toMatch(/^gateway\.config\.ts could not be loaded: Cannot read prop/)
  expect(((error as Error).cause as Error).stack).toContain(`${path}:5:`)
})

it('a plain file runs again at each load', async () => {
  const path = written(
    'globalThis.plainRuns = (globalThis.plainRuns ?? 0) + 1\nexport default { options: { port: globalThis.plainRuns } }\n',
  )
  expect(await loadConfig(path)).toEqual({ options: { port: 1 } })
  expect(await loadConfig(path)).toEqual({ options: { port: 2 } })
})
