// The data plane's route table: exact paths, then the longest prefix. There are no patterns and no normalisation: a path that does not
// match byte for byte is 404.
import { GatewayError } from '../errors/gateway-error.ts'
import type { OperationDriver, OperationRoute } from '../types/operations/operation.ts'
import type { ApiRoute, DataRoute } from '../types/plugin/plugin.ts'
import type { Ingress } from '../types/ports/ports.ts'
import type { Dialect, Operation } from '../types/request/canonical.ts'
import type { KeyScope } from '../types/request/context.ts'
import type { DialectDriver, DialectRoute } from '../types/request/dialect.ts'

export const DEFAULT_BODY_LIMIT = 2 * 1024 * 1024
/** Limit of uploads: images and audio. */
export const MEDIA_BODY_LIMIT = 64 * 1024 * 1024

export interface MatchedRoute {
  readonly operation: Operation
  readonly dialect: Dialect
  readonly bodyLimit: number
  readonly models: DialectRoute['models']
  /** Which client-key restrictions apply to this route. */
  readonly scope: KeyScope
  readonly keyRequired: boolean
  /** Set for a route of a dialect driver. */
  readonly dialectRoute: DialectRoute | null
  /** Set for a route of an operation driver. */
  readonly operationRoute: OperationRoute | null
  /** Set for a route of a plugin. */
  readonly dataRoute: DataRoute | null
  readonly fromPath: { model?: string; stream?: boolean }
}

interface Entry extends MatchedRoute {
  readonly path: string
  readonly method: string
}

export interface RouteTable {
  readonly entries: readonly Entry[]
  /** Returns the route. @throws GatewayError 404 unknown_url, 405 method_not_allowed (see `allow`), 426 for WebSocket upgrades. */
  match(ingress: Ingress): MatchedRoute
  /** Returns the route that the caller probably intended with this path. */
  suggested(path: string): string | null
}

export function owns(path: string): boolean {
  return path.startsWith('/v1/') || path.startsWith('/v1beta/') || path === '/v1' || path === '/v1beta'
}

/** Google's stable version shares `/v1/models/` with the model list of other dialects. */
const GOOGLE_VERB =
  /^\/v1\/models\/.*(?::|%3a)(?:generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/i

/** Returns the dialect whose error shape the caller of a path expects, also for unknown paths. */
export function dialectOfPath(path: string): Dialect {
  if (path.startsWith('/v1beta') || GOOGLE_VERB.test(path)) return 'generate_content'
  if (path.startsWith('/v1/messages')) return 'messages'
  return path.startsWith('/v1/responses') ? 'responses' : 'chat'
}

// The most common mistakes with an SDK's base URL are `/v1` twice, no `/v1`, and a trailing slash.
const ROOT = '/v1'

function suggestPath(path: string, known: ReadonlyMap<string, unknown>): string | null {
  const whole = path.endsWith('/') ? path.slice(0, -1) : path
  const once = whole.startsWith(`${ROOT}${ROOT}/`) ? whole.slice(ROOT.length) : whole
  return [once, ROOT + once].find((candidate) => candidate !== path && known.has(candidate)) ?? null
}

/** The routes that a plugin registered. */
interface PluginRoutes {
  readonly plugin: { readonly name: string }
  readonly api: readonly ApiRoute[]
  readonly data: readonly DataRoute[]
}

/** @throws Error naming the route and the plugins that both have it. */
function refuseSame(drivers: readonly Entry[], plugins: readonly PluginRoutes[]): void {
  const owners = new Map(drivers.map(({ method, path }) => [`${method} ${path}`, 'the gateway itself']))
  for (const { plugin, api, data } of plugins) {
    for (const { method, path } of [...api, ...data]) {
      const route = `${method} ${path}`
      const owner = owners.get(route)
      if (owner !== undefined)
        throw new Error(`The plugin \`${plugin.name}\` registers the route ${route}, and so does ${owner}.`)
      owners.set(route, `the plugin \`${plugin.name}\``)
    }
  }
}

/** @throws Error when two plugins have the same route. */
export function routeTable(
  dialects: Iterable<DialectDriver>,
  operations: Iterable<OperationDriver>,
  plugins: readonly PluginRoutes[],
  jsonBodyLimit: number,
): RouteTable {
  const entries: Entry[] = []
  const limits = { json: jsonBodyLimit, media: MEDIA_BODY_LIMIT, default: DEFAULT_BODY_LIMIT }
  for (const { id, routes } of dialects) {
    for (const route of routes) {
      entries.push({
        path: route.path,
        method: 'POST',
        operation: route.operation,
        dialect: id,
        bodyLimit: limits[route.bodyLimit],
        models: route.models,
        scope: 'model',
        keyRequired: false,
        dialectRoute: route,
        operationRoute: null,
        dataRoute: null,
        fromPath: FROM_BODY,
      })
    }
  }
  for (const { id, routes } of operations) {
    for (const route of routes) {
      entries.push({
        path: route.path,
        method: 'POST',
        operation: id,
        dialect: dialectOfPath(route.template ?? route.path),
        bodyLimit: limits[route.bodyLimit],
        models: route.models,
        scope: route.scope ?? 'model',
        keyRequired: false,
        dialectRoute: null,
        operationRoute: route,
        dataRoute: null,
        fromPath: FROM_BODY,
      })
    }
  }
  refuseSame(entries, plugins)
  for (const route of plugins.flatMap(({ data }) => data)) {
    const { path, method, operation, models, scope, keyRequired = false, bodyLimit = DEFAULT_BODY_LIMIT } = route
    entries.push({
      path,
      method,
      operation,
      dialect: dialectOfPath(path),
      bodyLimit,
      models,
      scope,
      keyRequired,
      dialectRoute: null,
      operationRoute: null,
      dataRoute: route,
      fromPath: FROM_BODY,
    })
  }
  const exact = new Map<string, Entry[]>()
  const prefixes: Entry[] = []
  for (const entry of entries) {
    if (entry.path.endsWith('*')) prefixes.push(entry)
    else exact.set(entry.path, [...(exact.get(entry.path) ?? []), entry])
  }
  prefixes.sort((a, b) => b.path.length - a.path.length)

  return {
    entries,
    suggested: (path) => suggestPath(path, exact),
    match(ingress) {
      const { path, method } = ingress
      const same = exact.get(path)
      if (same !== undefined) return pick(same, method, ingress, FROM_BODY)
      for (const entry of prefixes) {
        const stem = entry.path.slice(0, -1)
        if (!path.startsWith(stem)) continue
        const rest = path.slice(stem.length)
        const parsed =
          entry.dataRoute === null ? (entry.dialectRoute ?? entry.operationRoute)?.parse?.(rest) : named(entry.dataRoute, rest)
        if (!parsed) continue
        return pick(entry.dataRoute === null ? [entry] : sameRoutes(prefixes, entry.path, rest), method, ingress, parsed)
      }
      throw GatewayError.unknownUrl(method, path, suggestPath(path, exact))
    },
  }
}

/** Returns the plugin routes of one path: one for each method. */
function sameRoutes(prefixes: readonly Entry[], path: string, rest: string): Entry[] {
  return prefixes.filter((one) => one.path === path && one.dataRoute !== null && named(one.dataRoute, rest) !== null)
}

function named({ accepts }: DataRoute, rest: string): MatchedRoute['fromPath'] | null {
  return rest !== '' && (accepts?.(rest) ?? true) ? FROM_BODY : null
}

/** The body contains model and stream. */
const FROM_BODY: MatchedRoute['fromPath'] = {}

function pick(entries: readonly Entry[], method: string, ingress: Ingress, fromPath: MatchedRoute['fromPath']): MatchedRoute {
  const found = entries.find((entry) => entry.method === method)
  if (found !== undefined) return fromPath === FROM_BODY ? found : { ...found, fromPath }
  if (ingress.headers.get('upgrade')?.toLowerCase() === 'websocket') {
    throw new GatewayError('This route does not speak WebSocket; use HTTP POST with a streamed answer.', {
      status: 426,
      type: 'invalid_request_error',
      code: 'websocket_not_supported',
      headers: ['upgrade', 'HTTP/1.1'],
    })
  }
  const shown = entries.filter(({ dataRoute }) => dataRoute?.documented !== false)
  throw GatewayError.methodNotAllowed(method, shown.map((entry) => entry.method).join(', '))
}
