// Plugins of the bundle for packages that do much work when they are loaded: the work waits for its first use.

/** re2js builds tables of all characters. Few gateways have an expression of their own. */
export const lateExpressions = {
  name: 'late-expressions',
  transform(code, id) {
    if (!isOf('re2js', id)) return null
    const [exported] = /\nexport \{[^{}]+\};?\s*$/.exec(code) ?? []
    if (exported === undefined || /^import\b/m.test(code)) throw new Error('re2js has another form: see scripts/bundle-late.mjs.')
    return `function load() {\n${code.slice(0, -exported.length)}\nreturn RE2JS;\n}
let loaded;
export const RE2JS = new Proxy({}, { get: (_, name) => Reflect.get((loaded ??= load()), name) });`
  },
}

/** The exports of the price data that the gateway uses. */
const PRICED = ['calcPrice', 'findProvider']

/**
 * The price data waits for the first question, and the models of each provider stay a text until that provider is asked for. They are in the
 * module itself: some runtimes have no files, and a user's bundler does not know of them.
 */
export const latePrices = {
  name: 'late-prices',
  transform(code, id) {
    if (!isOf('@pydantic/genai-prices', id)) return null
    const [literal] = /^\[\n[\s\S]*?\n\]/.exec(code.slice('const E = '.length)) ?? []
    const [exported, names] = /\nexport \{([^{}]+)\};?\s*$/.exec(code) ?? []
    const local = PRICED.map((name) => new RegExp(`(\\w+) as ${name}\\b`).exec(names)?.[1])
    if (literal === undefined || !code.startsWith('const E = [') || local.includes(undefined) || /\nimport\b/.test(code))
      throw new Error('@pydantic/genai-prices has another form: see scripts/bundle-late.mjs.')
    const all = new Function(`return ${literal}`)()
    const providers = all.map(({ models, ...provider }) => [provider, JSON.stringify(models)])
    const late = `${JSON.stringify(providers)}.map(([provider, models]) => Object.defineProperty(provider, 'models', {
  configurable: true, enumerable: true,
  get() { const value = JSON.parse(models); Object.defineProperty(this, 'models', { value, writable: true }); return value; },
  set(value) { Object.defineProperty(this, 'models', { value, writable: true }); },
}))`
    return `function load() {
${withoutCollator(code.slice(0, -exported.length).replace(literal, () => late))}
return { ${PRICED.map((name, at) => `${name}: ${local[at]}`).join(', ')} }
}
let loaded
${PRICED.map((name) => `export const ${name} = (...args) => (loaded ??= load()).${name}(...args)`).join('\n')}`
  },
}

/** The first `localeCompare` of a process loads the rules of its language, which names of units do not need. */
function withoutCollator(code) {
  return code.replace(/([\w.]+)\.localeCompare\(([\w.]+)\)/g, '($1 < $2 ? -1 : $1 > $2 ? 1 : 0)')
}

export const HTTP = '\0late-http'

/** The exports of `node:http` that the gateway uses. */
const NAMES = ['createServer', 'IncomingMessage', 'ServerResponse', 'STATUS_CODES', 'validateHeaderName', 'validateHeaderValue']

/** An import of `node:http` reads all its members, and Node 24 then loads its own undici for the member `WebSocket`. */
export const lateHttp = {
  name: 'late-http',
  resolveId(id, _importer, { kind }) {
    if (id !== 'node:http') return null
    return kind === 'dynamic-import' ? { id, external: true } : HTTP
  },
  load: (id) => (id === HTTP ? `export const { ${NAMES.join(', ')} } = process.getBuiltinModule('node:http')` : null),
}

const UTIL = '\0metrics-util'

/** The package requires a module of Node, which a bundle for all runtimes has to import. */
export const joinedMetrics = {
  name: 'joined-metrics',
  resolveId: (id, importer) => (id === 'util' && isOf('prom-client', importer) ? UTIL : null),
  load: (id) => (id === UTIL ? `export { format, inspect } from 'node:util'` : null),
}

function isOf(name, id) {
  return id.replaceAll('\\', '/').includes(`/node_modules/${name}/`)
}

/** V8 keeps a text with one byte for each character if all of them are of Latin-1, otherwise with two. */
export function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
