// Writes the generated parts of docs/: the variable table, the hooks and their sealed order, the routes, the metrics, the events of
// webhooks. They come from the built code, so that they always match the running code.
//
//   npm run docs               rewrites the text between the marks
//   node scripts/docs.mjs --check    fails when a generated part is stale
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createGateway, definePlugin, HOOKS, silentLog } from '../dist/adapters/node/index.js'
import { EVENT_TYPES, kindOf } from '../dist/plugins/webhooks/events/catalog.js'
import { READER } from './api-document.mjs'
import { floors, request, tables } from './drawings.mjs'
import { EVENT_TEXT } from './event-text.mjs'
import { HOOK_TEXT } from './hook-text.mjs'
import { observedPreset } from './observed-preset.mjs'
import { recipes, reference } from './plugin-docs.mjs'
import { roleGrid } from './role-grid.mjs'
import { vendorRows } from './vendor-rows.mjs'
import { warningText } from './warning-text.mjs'

const root = new URL('../', import.meta.url)
const observed = observedPreset()
const gateway = await createGateway(
  { connections: { echo: { provider: 'echo' } }, plugins: [...observed.plugins, failing()] },
  { log: silentLog },
)

// Routes of organizations and people exist with tenants only.
const tenants = observedPreset()
const shared = await createGateway(
  { connections: { echo: { provider: 'echo' } }, plugins: tenants.plugins },
  { log: silentLog, env: { GATEWAY_MULTI_TENANT: 'true' } },
)
const openapi = await (await shared.control.fetch(new Request('http://docs/api/openapi.json'), READER)).json()

const sections = {
  'docs/dialects.md': { warnings: warningTable() },
  'docs/endpoints.md': { vendors: table(...vendorRows()) },
  'docs/configuration.md': { variables: variableTable(variables()) },
  'docs/hooks.md': { hooks: hookTable(), order: sealedOrder() },
  'docs/routes.md': { data: dataRoutes(), control: controlRoutes() },
  'docs/roles.md': { grid: roleGrid(openapi) },
  'docs/metrics.md': { metrics: await metricTable() },
  'docs/webhooks.md': { events: eventTable() },
}
/** Files that are generated completely. */
const files = {
  'docs/plugins/recipes.md': recipes(),
  'docs/plugins/reference.md': reference(),
  'docs/drawings/floors.svg': floors(),
  'docs/drawings/request.svg': request(HOOKS, pluginsByHook()),
  'docs/drawings/tables.svg': tables(),
}
await gateway.close()
await shared.close()

const stale = []
for (const [file, text] of Object.entries(files)) {
  const url = new URL(file, root)
  if (existsSync(url) && readFileSync(url, 'utf8') === text) continue
  stale.push(file)
  if (!process.argv.includes('--check')) writeFileSync(url, text)
}
for (const [file, parts] of Object.entries(sections)) {
  const before = readFileSync(new URL(file, root), 'utf8')
  const after = Object.entries(parts).reduce((text, [name, body]) => replaced(file, text, name, body), before)
  if (after === before) continue
  stale.push(file)
  if (!process.argv.includes('--check')) writeFileSync(new URL(file, root), after)
}
if (process.argv.includes('--check') && stale.length > 0) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run docs\`.`)
  process.exit(1)
}

function replaced(file, text, name, body) {
  const [start, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`]
  const [from, to] = [text.indexOf(start), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`${file} lacks the marks ${start} … ${end}.`)
  return `${text.slice(0, from + start.length)}\n\n${body}\n\n${text.slice(to)}`
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Finds every literal slug in the sources, and the places that build one from a field's name. */
function warningTable() {
  const where = new Map()
  for (const folder of ['adapters', 'core', 'plugins']) {
    for (const [path, text] of sourceFiles(folder)) {
      for (const [, plain, built] of text.matchAll(/\.warn\((?:'([a-z0-9_]+)'|`([a-z0-9_]+_)\$\{)/g)) {
        const slug = plain ?? `${built}…`
        const place = /^dialects\/([^/]+)/.exec(path)?.[1] ?? path.split('/')[0]
        where.set(slug, (where.get(slug) ?? new Set()).add(place))
      }
    }
  }
  const rows = [...where].sort(([a], [b]) => (a < b ? -1 : 1))
  return table(
    ['Slug', 'Set by', 'Meaning'],
    rows.map(([slug, places]) => [`\`${slug}\``, [...places].sort().join(', '), warningText(slug.replace('…', 'field'))]),
  )
}

/** Returns the variables of the core, then those of each plugin of the preset. @throws Error when one has no effect */
function variables() {
  const list = gateway.env.all().map(({ variable }) => variable)
  const unread = list.filter((variable) => !isRead(variable)).map(({ name }) => name)
  if (unread.length > 0) throw new Error(`No source reads ${unread.join(', ')}.`)
  return list
}

function variableTable(list) {
  const rows = list.map((variable) => [
    `\`GATEWAY_${variable.name}\``,
    kind(variable),
    shown(variable.default),
    variable.plugin ?? 'core',
    meaning(variable),
  ])
  return table(['Variable', 'Type', 'Default', 'Plugin', 'Meaning'], rows)
}

/** A plugin reads the variables that it declares. A variable of the core must be named in a source other than its declaration. */
function isRead({ name, plugin }) {
  if (plugin !== undefined) return true
  isRead.text ??= ['core', 'plugins', 'adapters'].flatMap((folder) => sourceFiles(folder).map(([, text]) => text)).join('\n')
  return isRead.text.includes(`'${name}'`)
}

/** Returns [path, code without comments], without the declaration of the variables. */
function sourceFiles(folder) {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('config/variables.ts'))
    .map((path) => [path, readFileSync(new URL(`${folder}/${path}`, root), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')])
}

function kind({ type, values, min, max }) {
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  const range = [min === undefined ? '' : `≥ ${min}`, max === undefined ? '' : `≤ ${max}`].filter(Boolean).join(', ')
  return range === '' ? type : `${type}, ${range}`
}

function shown(value) {
  return value === null || String(value) === '' ? '–' : `\`${value}\``
}

function meaning({ about, lenient, fallback, emptyMeans }) {
  const more = [
    fallback && `\`${fallback}\` is read when it is unset.`,
    emptyMeans && `Set to nothing: ${emptyMeans}.`,
    lenient && 'A bad value is logged and ignored.',
  ]
  return [about, ...more].filter(Boolean).join(' ')
}

function hookTable() {
  const rows = Object.entries(HOOKS).map(([name, { kind, onError }]) => {
    if (HOOK_TEXT[name] === undefined) throw new Error(`scripts/hook-text.mjs says nothing about ${name}.`)
    const { gets, may } = HOOK_TEXT[name]
    return [`\`${name}\``, kind, `\`${gets}\``, may, onError]
  })
  return table(['Hook', 'Kind', 'Handler', 'May', 'On a bug'], rows)
}

/** Returns names of the preset's plugins on each hook, in sealed order. */
function pluginsByHook() {
  const names = ({ handlers }) =>
    handlers
      .filter(({ plugin }) => plugin !== 'docs-failing')
      .map(({ plugin, conditional }) => plugin + (conditional ? ' (conditional)' : ''))
  return new Map(gateway.hooks.map((entry) => [entry.hook, names(entry)]))
}

function sealedOrder() {
  const rows = [...pluginsByHook()]
    .filter(([, names]) => names.length > 0)
    .map(([hook, names]) => [`\`${hook}\``, names.join(' → ')])
  return table(['Hook', 'Plugins, in order'], rows)
}

function dataRoutes() {
  const mebibytes = (bytes) => `${bytes / 2 ** 20} MiB`
  const limits = { json: '`GATEWAY_MAX_BODY_BYTES`' }
  const rows = gateway.routes.entries.map((entry) => [
    `\`${entry.method} ${shownPath(entry)}\``,
    `\`${entry.dialect}\``,
    `\`${entry.operation}\``,
    entry.method === 'GET'
      ? '–'
      : (limits[(entry.dialectRoute ?? entry.operationRoute)?.bodyLimit] ?? mebibytes(entry.bodyLimit)),
  ])
  return table(['Route', 'Dialect', 'Operation', 'Body limit'], rows)
}

function shownPath({ path, operation, operationRoute, dataRoute }) {
  if (!path.endsWith('*')) return path
  const template = operationRoute?.template ?? dataRoute?.template
  if (template !== undefined) return template
  if (dataRoute !== null) return `${path.slice(0, -1)}{id}`
  const model = `${path.slice(0, -1)}{model}`
  if (operation === 'count_tokens') return `${model}:countTokens`
  return `${model}:generateContent\` · \`…:streamGenerateContent`
}

function controlRoutes() {
  const rows = tenants.routes.map(({ method, path, role, summary, plugin }) => [
    `\`${method} ${path}\``,
    plugin,
    openTo(role),
    summary,
  ])
  const ofCore = shared.api.filter(
    (route) => !tenants.routes.some((own) => own.method === route.method && own.path === route.path),
  )
  for (const { method, path, role, summary } of ofCore) rows.push([`\`${method} ${path}\``, 'core', openTo(role), summary])
  return table(['Route', 'Plugin', 'Open to', 'What'], rows)
}

/** The default role is that of core/http/api-routes.ts. */
function openTo(role) {
  const needed = role ?? 'system'
  return needed === 'public' ? 'everybody' : needed
}

async function metricTable() {
  const chat = { model: 'echo/echo-1', messages: [{ role: 'user', content: 'x' }] }
  await gateway.fetch(new Request('http://docs/v1/chat/completions', { method: 'POST', body: JSON.stringify(chat) }), {
    local: true,
  })
  const text = await (await gateway.fetch(new Request('http://docs/metrics'), { local: true })).text()
  const names = [...text.matchAll(/^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)/gm)]
  const rows = names
    .filter(([, name]) => !/^gateway_(process|nodejs)_/.test(name))
    .map(([, name, help, type]) => {
      const known = observed.metrics.get(name)
      return [
        `\`${name}\``,
        type,
        (known?.labels ?? labelsOf(text, name)).map((label) => `\`${label}\``).join(', ') || '–',
        known?.plugin ?? 'core',
        help,
      ]
    })
  return table(['Metric', 'Type', 'Labels', 'Plugin', 'What'], rows)
}

function eventTable() {
  const rows = EVENT_TYPES.map((type) => {
    if (EVENT_TEXT[type] === undefined) throw new Error(`scripts/event-text.mjs says nothing about ${type}.`)
    const { defaultOn, debounce, told = debounce } = kindOf(type)
    return [`\`${type}\``, defaultOn ? 'yes' : 'no', told ? `${duration(told.ms)}, \`${told.by}\`` : '–', EVENT_TEXT[type]]
  })
  return table(['Event', 'Default', 'At most once in', 'When'], rows)
}

function duration(ms) {
  const [unit, size] = [
    ['h', 3_600_000],
    ['min', 60_000],
  ].find(([, each]) => ms >= each)
  return `${ms / size} ${unit}`
}

function labelsOf(text, name) {
  const sample = new RegExp(`^${name}\\{([^}]*)\\}`, 'm').exec(text)?.[1] ?? ''
  return [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label)
}

/** A handler that throws, so that the error counter has a sample with its labels. */
function failing() {
  return definePlugin({
    name: 'docs-failing',
    setup(scope) {
      const fail = () => {
        throw new Error('on purpose')
      }
      scope.hook('answer', fail, { onError: 'open' })
    },
  })()
}
