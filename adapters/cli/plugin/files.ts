// Generates the files of a new plugin: a small working plugin, and tests that run it through the conformance kit.
import { fileURLToPath } from 'node:url'
import { PLUGIN_API_VERSION } from '../../../core/plugins/define.ts'
import { VERSION } from '../../../core/version.ts'

/** Returns texts by file name. */
export function pluginFiles(name: string): Record<string, string> {
  const camelCase = name.replaceAll(/-([a-z0-9])/g, (_dash, letter: string) => letter.toUpperCase())
  const identifier = TAKEN.has(camelCase) ? `${camelCase}Plugin` : camelCase
  return {
    'package.json': manifest(name),
    'tsconfig.json': TSCONFIG,
    'tsconfig.test.json': TSCONFIG_TEST,
    'index.ts': source(name, identifier),
    'index.test.ts': tests(name, identifier),
    'README.md': readme(name),
  }
}

/** Reserved words of the language, and names that the files themselves use. */
const TAKEN = new Set(
  `
    arguments await break case catch class const continue debugger default delete do else enum eval export extends false
    finally for function if implements import in instanceof interface let new null package private protected public return
    static super switch this throw true try typeof var void while with yield undefined createTestGateway definePlugin
    describe expect it name pluginConformance run text z
  `
    .trim()
    .split(/\s+/),
)

function manifest(name: string): string {
  const content = {
    name: `hookgate-plugin-${name}`,
    version: '0.1.0',
    type: 'module',
    exports: { types: './dist/index.d.ts', default: './dist/index.js' },
    files: ['dist'],
    keywords: ['hookgate', 'hookgate-plugin'],
    scripts: {
      build: 'tsc',
      test: 'tsc --noEmit -p tsconfig.test.json && vitest run',
      check: 'npm run build && hookgate plugin check',
    },
    peerDependencies: { hookgate: `^${VERSION}` },
    dependencies: { zod: '^4.0.0' },
    hookgate: { api: PLUGIN_API_VERSION, hooks: ['settled'], permissions: [] },
    devDependencies: { '@types/node': '^20.0.0', hookgate: ownPackage(), typescript: '^5.9.0', vitest: '^4.0.0' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

/** Returns the published version; in a checkout its folder, which works before the package is published. */
function ownPackage(): string {
  const root = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../../' : '../../../../', import.meta.url))
  return /[\\/]node_modules[\\/]/.test(root) ? `^${VERSION}` : `file:${root.replace(/[\\/]$/, '')}`
}

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      strict: true,
      declaration: true,
      skipLibCheck: true,
      outDir: 'dist',
      types: ['node'],
    },
    files: ['index.ts'],
  },
  null,
  2,
)}\n`

const TSCONFIG_TEST = `${JSON.stringify({ extends: './tsconfig.json', files: ['index.ts', 'index.test.ts'] }, null, 2)}\n`

function source(name: string, identifier: string): string {
  return `import { definePlugin } from 'hookgate'
import { z } from 'zod'

/** Counts answers that took longer than \`overMs\`, and logs them. */
export const ${identifier} = definePlugin({
  name: '${name}',
  config: z.strictObject({
    overMs: z.int().min(0).default(5000),
  }),
  setup(gateway, { overMs }) {
    const slow = gateway.metrics.counter('${metric(name)}_slow_total', 'Answers that took too long.')
    gateway.hook('settled', (ctx, { latencyMs, status }) => {
      if (latencyMs < overMs) return
      slow.inc()
      gateway.log.info('slow', { requestId: ctx.id, status, ms: Math.round(latencyMs) })
    })
  },
})

export default ${identifier}
`
}

function tests(name: string, identifier: string): string {
  return `import { createTestGateway, pluginConformance, text } from 'hookgate/testing'
import { describe, expect, it } from 'vitest'
import { ${identifier} } from './index.js'

describe('${identifier}', () => {
  it('counts an answer that took longer than it may', async () => {
    const t = await createTestGateway({ plugins: [${identifier}({ overMs: 0 })], upstream: [text('hello')] })
    await t.post('/v1/chat/completions', { model: 'chat/m', messages: [{ role: 'user', content: 'hi' }] })
    await t.untilSettled()
    const metrics = await t.fetch('/metrics')
    expect(await metrics.text()).toContain('gateway_${metric(name)}_slow_total 1')
    await t.close()
  })

  for (const { name, run } of pluginConformance(() => ${identifier}())) it(name, run, 30_000)
})
`
}

function metric(name: string): string {
  return name.replaceAll('-', '_')
}

function readme(name: string): string {
  return `# hookgate-plugin-${name}

\`\`\`ts
// gateway.config.ts
import { defineConfig, preset } from 'hookgate'

export default defineConfig({
  plugins: [...preset(), { plugin: 'hookgate-plugin-${name}', options: { overMs: 2000 } }],
})
\`\`\`

\`npm test\` checks the types and runs the tests. \`npm run check\` checks the package before you publish it.
`
}
