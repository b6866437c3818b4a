// Serves the control plane of one generation: plugins' ApiRoutes on h3. Access is denied by default, and decided by the matched route,
// never by the path string.
import type { H3, H3Event } from 'h3'
import { envelope, GatewayError } from '../errors/gateway-error.ts'
import { requestId } from '../ids/ids.ts'
import { errorText } from '../text/error-text.ts'
import { sanitizeMessage } from '../text/sanitize.ts'
import type { ApiRoute } from '../types/plugin/plugin.ts'
import type { Clock, Logger, Peer } from '../types/ports/ports.ts'
import type { Site } from '../types/ports/site.ts'
import type { ControlPlace } from '../types/request/host.ts'
import { answerHeaders } from './answer-headers.ts'
import { type ApiEnvironment, callRoute, roleOf } from './api-routes.ts'
import { jsonAnswer } from './json.ts'
import { UNKNOWN_PEER } from './web-exchange.ts'

export interface ControlApp {
  fetch(request: Request, peer: Peer, at?: ControlPlace): Promise<Response>
}

/** Facts about a call besides the request itself. */
interface Call {
  readonly peer: Peer
  /** The id of the answer and the log lines. */
  readonly id: string
  readonly at: ControlPlace
}

export interface ControlOptions extends ApiEnvironment {
  readonly log: Logger
  readonly clock: Clock
  readonly routes: readonly ApiRoute[]
  readonly site: Site | undefined
  /** Returns the data route that the caller probably intended with an unknown path. */
  suggested(path: string): string | null
}

/** Returns the services of plugins that the control plane uses itself. */
export function controlServices(plugins: {
  service(token: string): unknown
}): Pick<ControlOptions, 'operators' | 'audit' | 'site'> {
  return {
    operators: plugins.service('operators') as ControlOptions['operators'],
    audit: plugins.service('audit') as ControlOptions['audit'],
    site: plugins.service('site') as ControlOptions['site'],
  }
}

/** @throws Error when a route that writes has no audit action, or two routes have the same path. */
export function controlApp(options: ControlOptions): ControlApp {
  refuseUnclassified(options.routes)
  const calls = new WeakMap<Request, Call>()
  const failed = (request: Request, thrown: unknown): Response => failure(thrown, calls.get(request)?.id ?? '', options.log)
  // A route of another profile does not exist here, for any method and any caller.
  const routes = options.routes.filter(({ profile }) => (profile ?? options.profile) === options.profile)
  // h3 is loaded with the first call: it needs the web objects of the runtime, which the data plane does without.
  const routed = async (): Promise<H3> => {
    const { H3 } = await import('h3')
    const app = new H3({
      silent: true,
      onError: (error, event) => failed(event.req as Request, thrownBy(error, event.req as Request, options)),
    })
    for (const route of routes) {
      const literal = literalParts(route.path)
      const call = async (event: H3Event): Promise<Response> => {
        const request = event.req as Request
        if (!spells(new URL(request.url).pathname, literal)) return failed(request, unknown(request, options))
        const peer = calls.get(request)?.peer ?? UNKNOWN_PEER
        return callRoute(route, request, event.context.params ?? {}, peer, options).catch((error: unknown) =>
          failed(request, error),
        )
      }
      app.on(route.method, route.path, call)
      if (route.method === 'GET') app.on('HEAD', route.path, async (event) => withoutBody(await call(event)))
    }
    for (const [path, methods] of methodsByPath(routes)) {
      app.all(path, (event: H3Event) => failed(event.req as Request, GatewayError.methodNotAllowed(event.req.method, methods)))
    }
    app.all('/**', (event: H3Event) => failed(event.req as Request, unknown(event.req as Request, options)))
    return app
  }
  let app: Promise<H3> | undefined
  const page = async (request: Request, { at }: Call): Promise<Response | null> => {
    const { pathname } = new URL(request.url)
    if (options.site === undefined || at.pages === false || !mayBePage(request, pathname)) return null
    const page = { path: pathname, headers: request.headers, mount: at.mount ?? '' }
    const answer = await Promise.resolve(options.site.answer(page)).catch((error: unknown) => failed(request, error))
    return answer !== null && request.method === 'HEAD' ? withoutBody(answer) : answer
  }
  return {
    async fetch(request, peer, at = {}) {
      const id = requestId()
      const call = { peer, id, at }
      calls.set(request, call)
      app ??= routed()
      const response =
        (new URL(request.url).pathname === '/' && acceptsHtml(request) && (await page(request, call))) ||
        (await (await app).fetch(request))
      const ours = request.method === 'HEAD' || response.headers.get('content-type')?.includes('json') === true
      if (response.status !== 404) return guarded(response, id, options.clock)
      const answer = (await page(request, call)) ?? (ours ? response : failed(request, unknown(request, options)))
      return guarded(answer, id, options.clock)
    },
  }
}

const API_PATH = /^\/(?:api|v1|v1beta|health|healthz|metrics|dl)(?:\/|$)/

/** Pages never stand in for the API: an unknown path of it stays a JSON 404. */
function mayBePage(request: Request, path: string): boolean {
  return (request.method === 'GET' || request.method === 'HEAD') && !API_PATH.test(path) && isDecodable(path)
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/** Clients of the API that probe `/` accept anything or JSON; browsers name HTML. */
function acceptsHtml(request: Request): boolean {
  return request.headers.get('accept')?.includes('text/html') === true
}

/** Adds the headers of every answer. Makes a new Response, because a fetched one has immutable headers. */
function guarded({ status, statusText, headers: given, body }: Response, id: string, clock: Clock): Response {
  const headers = new Headers(given)
  for (const [name, value] of Object.entries(answerHeaders(id))) if (!headers.has(name)) headers.set(name, value)
  // On every host and by the clock of the records: the dashboard counts down by it.
  if (!headers.has('date')) headers.set('date', new Date(clock.now()).toUTCString())
  return new Response(body, { status, statusText, headers })
}

/** Returns the literal parts of a route's path; null for a parameter. A `**` ends the list. */
function literalParts(path: string): (string | null)[] {
  const parts = path.split('/')
  const rest = parts.findIndex((part) => part.startsWith('**'))
  return parts.slice(0, rest === -1 ? parts.length : rest).map((part) => (part.startsWith(':') ? null : part))
}

/** Compares without decoding, as the data plane does: otherwise `/%61pi/keys` would bypass a proxy that blocks `/api/`. */
function spells(path: string, literal: readonly (string | null)[]): boolean {
  const parts = path.split('/')
  return literal.every((part, index) => part === null || part === parts[index])
}

/** h3's own refusal of a path (a broken escape) becomes a 404: no route has such a path. */
function thrownBy(error: { status: number; cause?: unknown }, request: Request, options: ControlOptions): unknown {
  return error.status < 500 ? unknown(request, options) : (error.cause ?? error)
}

function unknown(request: Request, { suggested }: ControlOptions): GatewayError {
  const { pathname } = new URL(request.url)
  return GatewayError.unknownUrl(request.method, pathname, suggested(pathname))
}

function withoutBody(response: Response): Response {
  void response.body?.cancel()
  return new Response(null, { status: response.status, headers: response.headers })
}

function methodsByPath(routes: readonly ApiRoute[]): Map<string, string> {
  const methods = new Map<string, string>()
  for (const { path, method } of routes) methods.set(path, methods.has(path) ? `${methods.get(path)}, ${method}` : method)
  return methods
}

/** @throws Error for a route that writes and names no audit action. */
function refuseUnclassified(routes: readonly ApiRoute[]): void {
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    if (route.method !== 'GET' && roleOf(route) !== 'public' && route.audit === undefined)
      throw new Error(`The route ${name} writes and names no audit action; say \`audit: false\` if it changes nothing.`)
  }
}

function failure(thrown: unknown, id: string, log: Logger): Response {
  const error = GatewayError.from(thrown)
  if (!GatewayError.is(thrown)) log.error('control.failed', { requestId: id, error: errorText(thrown) })
  const body = envelope(error)
  body.error.message = sanitizeMessage(body.error.message)
  const response = jsonAnswer(error.status, body)
  for (let i = 0; i < error.headers.length; i += 2)
    response.headers.set(error.headers[i] as string, error.headers[i + 1] as string)
  if (error.retryAfterMs !== null) response.headers.set('retry-after', String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))))
  return response
}
