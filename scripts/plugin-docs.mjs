// Generates pages of docs/plugins from the code: the recipes of examples/recipes, and the declarations for plugins.
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)
const read = (path) => readFileSync(new URL(path, root), 'utf8')

const THEMES = {
  'Route requests': ['route-by-header', 'team-model', 'ab-split', 'eu-only', 'signed-provider'],
  'Refuse requests': ['block-previews', 'guardrail-service', 'daily-quota', 'parallel-limit'],
  'Change requests and answers': ['house-style', 'redact-emails', 'canned-answer', 'answer-cache', 'retry-once'],
  'Send records elsewhere': ['http-outbox', 'kafka-sink', 'budget-chat', 'daily-report'],
  'Add routes': ['whoami-route', 'top-models-route'],
}

/** @throws Error when a recipe has no theme, or a theme names a file that does not exist. */
export function recipes() {
  const files = readdirSync(new URL('examples/recipes', root)).filter((name) => name.endsWith('.ts'))
  const named = Object.values(THEMES).flat()
  const missing = files.map((file) => file.replace('.ts', '')).filter((name) => !named.includes(name))
  if (missing.length > 0) throw new Error(`scripts/plugin-docs.mjs gives no theme to the recipes ${missing.join(', ')}.`)
  const parts = Object.entries(THEMES).map(([theme, names]) => `## ${theme}\n\n${names.map(recipe).join('\n\n')}`)
  return `# Recipes

${named.length} complete plugins of at most forty lines. Each is a file of [examples/recipes](../../examples/recipes), and a test runs it
([test/recipes](../../test/recipes)). Copy one, change it, and list it behind the preset:

\`\`\`ts
import { defineConfig, preset } from 'hookgate'

export default defineConfig({
  plugins: [...preset(), { plugin: './plugins/block-previews.ts', options: { models: ['*-preview'] } }],
})
\`\`\`

${parts.join('\n\n')}
`
}

function recipe(name) {
  const text = read(`examples/recipes/${name}.ts`)
  const about = [...text.matchAll(/^\/\/ ?(.*)\n/gm)].map(([, line]) => line)
  const header = about
    .slice(
      0,
      text.split('\n').findIndex((line) => !line.startsWith('//')),
    )
    .join('\n')
  const code = text.slice(text.indexOf('\nimport ') + 1).trimEnd()
  return `### ${name}\n\n${header}\n\n\`\`\`ts\n${code}\n\`\`\``
}

/** Declarations by page section, copied from their source. */
const DECLARATIONS = {
  'A plugin': {
    'core/types/plugin/plugin.ts': ['PluginDefinition', 'PluginGateway', 'Teardown'],
    'core/types/plugin/hooks.ts': ['HookOptions'],
  },
  'A request': {
    'core/types/request/context.ts': [
      ...['RequestContext', 'Principal', 'Plan', 'Target', 'Candidate', 'Attempt', 'Outcome', 'Step', 'Lease', 'Slot', 'Call'],
      ...['EncodedCall', 'LiveRequest'],
    ],
  },
  'Answers and streams': {
    'core/types/request/result.ts': ['Result'],
    'core/types/request/answer.ts': ['CanonicalResponse', 'Choice', 'Usage'],
    'core/types/request/stream.ts': ['StreamTransform', 'StreamEvent', 'Delta'],
  },
  Routes: { 'core/types/plugin/plugin.ts': ['ApiRoute', 'ApiCall', 'DataRoute', 'InvokeOptions'] },
  Data: {
    'core/types/ports/db.ts': ['Db', 'Statement', 'Unit', 'View', 'Migration'],
    'core/types/plugin/resource.ts': ['ResourceKind'],
  },
  Facilities: {
    'core/types/ports/ports.ts': ['Logger', 'Clock', 'Counters', 'KeyValueStore', 'Vault', 'HeaderBag'],
    'core/types/plugin/plugin.ts': ['MetricsFactory', 'Tally'],
  },
  'Codecs of operations': {
    'core/types/operations/operation.ts': [
      ...['ServedOperation', 'OperationCodec', 'OperationUpstream', 'UpstreamRequest', 'UpstreamAnswer', 'UpstreamStreamAnswer'],
      'OperationReply',
    ],
  },
  Errors: { 'core/types/error.ts': ['GatewayErrorShape', 'UpstreamFailure', 'SkipReason'] },
  'The test kit': {
    'adapters/testing/test-gateway.ts': ['TestGatewayOptions', 'TestGateway'],
    'adapters/testing/script.ts': ['Delivery', 'RecordedRequest'],
    'adapters/testing/plugin-conformance/options.ts': ['PluginConformanceOptions'],
    'adapters/testing/operation-contract/options.ts': ['OperationContract', 'ContractAnswer'],
  },
}

/** @throws Error when a declaration is not in its file. */
export function reference() {
  const sections = Object.entries(DECLARATIONS).map(([title, files]) => {
    const blocks = Object.entries(files).flatMap(([file, names]) =>
      names.map((name) => `### ${name}\n\n\`\`\`typescript\n${declaration(file, name)}\n\`\`\``),
    )
    return `## ${title}\n\n${title === 'Errors' ? `${errors()}\n\n` : ''}${blocks.join('\n\n')}`
  })
  return `# Reference

The declarations that plugins use, copied from the sources. [Hooks](../hooks.md) lists the hooks with their handlers. Import the types from
\`hookgate/core\`, the functions from \`hookgate\`, and the test kit from \`hookgate/testing\`.

${sections.join('\n\n')}
`
}

/** Returns the declaration with its comment. It ends at its closing bracket, or before the next declaration. */
function declaration(file, name) {
  const text = read(file)
  const found = new RegExp(`^(?:/\\*\\*(?:(?!\\*/)[\\s\\S])*\\*/\\n)?export (?:interface|type|class) ${name}\\b`, 'm').exec(text)
  if (found === null) throw new Error(`${file} has no declaration of ${name}.`)
  const rest = text.slice(found.index)
  const isInterface = /^(?:\/\*\*[\s\S]*?\*\/\n)?export interface/.test(rest)
  const end = isInterface ? /^\}/m.exec(rest).index + 1 : /\n(?=\n)|$/.exec(rest).index
  return rest
    .slice(0, end)
    .replaceAll(/^ *\/\/ biome-ignore.*\n/gm, '')
    .trimEnd()
}

/** Returns the constructors of GatewayError with their status. */
function errors() {
  const text = read('core/errors/gateway-error.ts')
  const signatures = [
    ...text.matchAll(/((?: {2}\/\*\*[^\n]*\*\/\n)?) {2}static (\w+)\(((?:(?!\n {2}static )[\s\S])*?)\): GatewayError \{/g),
  ]
    .filter(([, , name]) => !['is', 'from'].includes(name))
    .map(
      ([, comment, name, args]) => `${comment.replaceAll(/^ {2}/gm, '')}GatewayError.${name}(${args.replaceAll(/^ {2}/gm, '')})`,
    )
  return `Throw a \`GatewayError\` to refuse a request. The caller receives it in the shape of its dialect.\n\n\`\`\`typescript\n${signatures.join('\n')}\n\`\`\``
}
