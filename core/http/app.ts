// The control plane of one generation: plugins' ApiRoutes on h3. Deny by default: who may call a route is decided on
// the matched route, never on the path string.
import { H3, type H3Event } from 'h3'
import type { ZodType } from 'zod'
import { envelope, GatewayError } from '../errors/gateway-error.ts'
import { decodeUtf8 } from '../lib/bytes.ts'
import { sanitizeMessage } from '../lib/sanitize.ts'
import type { ApiRoute } from '../types/plugin.ts'
import type { Logger, Peer } from '../types/ports.ts'
import { UNKNOWN_PEER, webIngress } from './web-exchange.ts'

export interface ControlApp {
  fetch(request: Request, peer: Peer): Promise<Response>
}

export interface ControlOptions {
  readonly profile: 'local' | 'cloud'
  readonly log: Logger
  readonly routes: readonly ApiRoute[]
}

const BODY_LIMIT = 2 * 1024 * 1024

export function controlApp(options: ControlOptions): ControlApp {
  const peers = new WeakMap<Request, Peer>()
  const app = new H3({ silent: true, onError: (error) => failure(error.cause ?? error, options.log) })
  for (const route of options.routes) {
    app.on(route.method, route.path, (event: H3Event) =>
      run(route, event, peers.get(event.req as Request), options).catch((error: unknown) => failure(error, options.log)),
    )
  }
  app.all('/**', (event: H3Event) => {
    const url = new URL(event.req.url)
    const known = options.routes.filter((route) => route.path === url.pathname)
    const error =
      known.length > 0
        ? GatewayError.methodNotAllowed(event.req.method, known.map(({ method }) => method).join(', '))
        : GatewayError.unknownUrl(event.req.method, url.pathname)
    return failure(error, options.log)
  })
  return {
    async fetch(request, peer) {
      peers.set(request, peer)
      const response = await app.fetch(request)
      if (response.status === 404 && response.headers.get('content-type')?.includes('json') !== true) {
        return failure(GatewayError.unknownUrl(request.method, new URL(request.url).pathname), options.log)
      }
      return response
    },
  }
}

async function run(route: ApiRoute, event: H3Event, peer: Peer | undefined, options: ControlOptions): Promise<Response> {
  if (route.profile !== undefined && route.profile !== options.profile) {
    throw GatewayError.unknownUrl(event.req.method, new URL(event.req.url).pathname)
  }
  // Sign-in is a plugin's service; without one the plane is open to local peers only (DECISIONS 7).
  if (route.role !== 'public' && peer?.local !== true) {
    throw GatewayError.unauthorized('This route is open to local clients only.')
  }
  const url = new URL(event.req.url)
  const answer = await route.handler({
    params: parsed(route.params, event.context.params ?? {}),
    query: parsed(route.query, Object.fromEntries(url.searchParams)),
    body: route.body === undefined ? undefined : parsed(route.body, await jsonBody(event.req as Request)),
    actor: peer?.local === true ? 'local' : 'anonymous',
    orgId: null,
    request: event.req as Request,
  })
  if (answer instanceof Response) return answer
  return json(route.status ?? 200, route.response ? route.response.parse(answer) : answer)
}

function parsed(schema: ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return value
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw GatewayError.invalid(issue?.path.join('.') || null, issue?.message ?? 'The value is not valid.')
}

async function jsonBody(request: Request): Promise<unknown> {
  const bytes = await webIngress(request, UNKNOWN_PEER).body(BODY_LIMIT)
  try {
    return JSON.parse(decodeUtf8(bytes))
  } catch {
    throw GatewayError.invalid(null, 'The body is not valid JSON.')
  }
}

function failure(thrown: unknown, log: Logger): Response {
  const error = GatewayError.from(thrown)
  if (!GatewayError.is(thrown))
    log.error('control.failed', { error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) })
  const body = envelope(error)
  body.error.message = sanitizeMessage(body.error.message)
  const response = json(error.status, body)
  for (let i = 0; i < error.headers.length; i += 2)
    response.headers.set(error.headers[i] as string, error.headers[i + 1] as string)
  return response
}

function json(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
