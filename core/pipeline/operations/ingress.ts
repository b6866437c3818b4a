// Reads the body of an operation other than chat: JSON, or a multipart form where the route takes one.
import { deepFreeze } from '../../collections/deep-freeze.ts'
import { GatewayError } from '../../errors/gateway-error.ts'
import type { MatchedRoute } from '../../http/data-routes.ts'
import { checkedModelId } from '../../models/model-id.ts'
import type { OperationRoute } from '../../types/operations/operation.ts'
import type { OperationRequest } from '../../types/operations/operations.ts'
import type { BodyMeter, Ingress } from '../../types/ports/ports.ts'
import type { WireBody } from '../../types/request/dialect.ts'
import type { RequestState } from '../context.ts'
import type { Runtime } from '../runtime.ts'

const FORM = /^multipart\/form-data\s*(?:;|$)/i

export function isForm(route: MatchedRoute, ingress: Ingress): boolean {
  return route.operationRoute?.decodeForm !== undefined && FORM.test(ingress.headers.get('content-type') ?? '')
}

/** @throws GatewayError 400 with `param`. */
export function takeJson(
  runtime: Runtime,
  ctx: RequestState,
  route: OperationRoute,
  body: WireBody,
  path: MatchedRoute['fromPath'],
): void {
  if (route.decode === undefined)
    throw GatewayError.invalid(null, 'This route takes `multipart/form-data`; send the file as a part of a form.')
  const named = path.model ?? body.get('model') ?? route.modelOf?.(body)
  if (typeof named === 'string') ctx.requestedModel = named.slice(0, 256)
  ctx.body = body
  const decode = route.decode.bind(route)
  take(runtime, ctx, route, decode(body, path))
}

/** @throws GatewayError 400 with `param`, 413. */
export async function takeForm(
  runtime: Runtime,
  ctx: RequestState,
  { operationRoute, bodyLimit }: MatchedRoute,
  ingress: Ingress,
  meter: BodyMeter,
): Promise<void> {
  const { readForm } = runtime
  const decodeForm = operationRoute?.decodeForm
  if (readForm === undefined || decodeForm === undefined)
    throw new GatewayError('This gateway was given no reader of forms.', { status: 501, type: 'api_error' })
  const form = await readForm(ingress.chunks(bodyLimit, meter), ingress.headers.get('content-type') ?? '')
  const model = form.fields.find(([name]) => name === 'model')?.[1]
  if (model !== undefined) ctx.requestedModel = model.slice(0, 256)
  take(runtime, ctx, operationRoute as OperationRoute, decodeForm(form))
}

function take(runtime: Runtime, ctx: RequestState, route: OperationRoute, request: OperationRequest): void {
  if (route.models !== 'none') ctx.requestedModel = checkedModelId(request.model)
  ctx.stream = ('stream' in request && request.stream) || ('sse' in request && request.sse)
  ctx.decode = () => (runtime.options.freeze ? deepFreeze(request) : request)
}
