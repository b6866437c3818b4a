// Authenticates and authorizes a request. Order of refusals: 401 before the body is read, then 413, 400, validation, 403, 400 of strict
// mode, 429.
import { deepFreeze } from '../collections/deep-freeze.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { MatchedRoute } from '../http/data-routes.ts'
import { scanObject } from '../json/json-scan.ts'
import { FewNames, MemberNames } from '../json/member-names.ts'
import { scanInTurns } from '../json/scan-in-turns.ts'
import { wireBody } from '../json/wire-body.ts'
import { checkedModelId } from '../models/model-id.ts'
import type { Ingress } from '../types/ports/ports.ts'
import type { Awaitable } from '../types/request/canonical.ts'
import type { Principal } from '../types/request/context.ts'
import type { WireBody } from '../types/request/dialect.ts'
import type { RequestState } from './context.ts'
import { ANONYMOUS } from './context-init.ts'
import { takeJson } from './operations/ingress.ts'
import { driver, type Runtime } from './runtime.ts'

/** Longest text that records keep of a `model` that is not a model id. */
const MAX_NAMED = 256

/** @throws GatewayError 401. */
export function authenticate(runtime: Runtime, ctx: RequestState): Awaitable<void> {
  const { hooks } = ctx
  const identifying = hooks.authenticate === null ? undefined : hooks.authenticate(ctx)
  if (identifying instanceof Promise) return identifying.then((principal) => admit(runtime, ctx, principal))
  admit(runtime, ctx, identifying)
}

function admit(runtime: Runtime, ctx: RequestState, principal: Principal | undefined): void {
  if (principal !== undefined) {
    ctx.principal = principal
    return
  }
  if (runtime.options.requireApiKey || ctx.keyRequired)
    throw GatewayError.unauthorized(
      'A client key is required. Send it as `Authorization: Bearer <key>`; make one with `hookgate key create`.',
    )
  if (ctx.peer?.local === false) {
    throw GatewayError.unauthorized(
      'Anonymous calls are answered for local clients only: from this machine, without forwarding headers, to a Host the gateway knows (localhost, GATEWAY_HOST or the one of GATEWAY_PUBLIC_URL). Send a client key as `Authorization: Bearer <key>`.',
    )
  }
  if (ctx.peer?.local === null) warnOfOpenHost(runtime, ctx.peer.address)
  ctx.principal = ANONYMOUS
}

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/

/**
 * Warns once, at the first call from an address outside this host. The embedding server does not say which callers are local, so the
 * gateway answers every anonymous call.
 */
function warnOfOpenHost(runtime: Runtime, address: string | null): void {
  if (runtime.warnedOfOpenHost || address === null || LOOPBACK.test(address)) return
  runtime.warnedOfOpenHost = true
  runtime.log.warn('serve.anonymous_calls', {
    address,
    hint: 'Calls without a key are answered for every client. Set GATEWAY_REQUIRE_API_KEY=true (`requireApiKey` in `options`), or say who is local: `peer` of toNodeHandler, `local` of gateway.fetch.',
  })
}

/** @throws GatewayError 400. */
export function smallBody({ options }: Runtime, bytes: Uint8Array): WireBody {
  const names = new FewNames()
  return wireBody(bytes, scanObject(bytes, options.requestLimits, names), names)
}

/** @throws GatewayError 400. */
export async function largeBody({ options, turns }: Runtime, bytes: Uint8Array): Promise<WireBody> {
  await turns.next()
  const names = new MemberNames()
  return wireBody(bytes, await scanInTurns(bytes, options.requestLimits, turns, names), names)
}

/** Reads model, stream and dialect from the body. @throws GatewayError 400. */
export function takeBody(runtime: Runtime, ctx: RequestState, route: MatchedRoute, ingress: Ingress, body: WireBody): void {
  const { dialectRoute, operationRoute } = route
  if (operationRoute !== null) return takeJson(runtime, ctx, operationRoute, body, route.fromPath)
  ctx.body = body
  const { fromPath } = route
  const named = fromPath.model ?? (route.models === 'none' ? undefined : body.get('model'))
  // This comes before any refusal, so that records name the model of a refused request.
  if (typeof named === 'string') ctx.requestedModel = named.slice(0, MAX_NAMED)
  if (dialectRoute?.dialectOf) ctx.dialect = dialectRoute.dialectOf(body)
  // This comes before `stream`: an error of the dialect's own table takes precedence.
  if (dialectRoute !== null) driver(runtime, ctx.dialect).validate?.(body)
  // A count_tokens body may ask for a stream, but the answer is a number.
  ctx.stream = route.operation !== 'count_tokens' && (fromPath.stream ?? booleanMember(body, 'stream'))
  ctx.sse =
    ctx.dialect !== 'generate_content' ||
    route.dialect !== 'generate_content' ||
    !ctx.stream ||
    /(?:^|&)alt=sse(?:&|$)/.test(ingress.query)
  ctx.requestedModel = fromPath.model === undefined ? modelMember(named, route) : checkedModelId(fromPath.model)
  const decode = decoderOf(runtime, ctx, route, body)
  ctx.decode = runtime.options.freeze ? () => deepFreeze(decode()) : decode
}

function decoderOf(runtime: Runtime, ctx: RequestState, route: MatchedRoute, body: WireBody): () => unknown {
  const { dataRoute, fromPath, operation } = route
  if (dataRoute?.decode) return () => dataRoute.decode?.(ctx, body)
  const path = ctx.dialect === route.dialect ? fromPath : {}
  return () => driver(runtime, ctx.dialect).decodeRequest(body, ctx.headers, { ...path, operation })
}

function modelMember(model: unknown, route: MatchedRoute): string {
  if (route.models === 'none') return ''
  if (typeof model === 'string' && model !== '') return checkedModelId(model)
  throw GatewayError.invalid(
    'model',
    model === undefined || model === null ? '`model` is required.' : '`model` must be a non-empty string.',
  )
}

function booleanMember(body: WireBody, name: string): boolean {
  const value = body.get(name)
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw GatewayError.invalid(name, `\`${name}\` must be a boolean.`)
  return value
}
