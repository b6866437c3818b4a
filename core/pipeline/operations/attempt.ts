// Runs one attempt of an operation other than chat: prepare → the codec of the provider, whose calls go through `encoded` and the
// transport.

import { serves } from '../../calls/vendor-serves.ts'
import { GatewayError } from '../../errors/gateway-error.ts'
import type { OperationDriver, OperationReply, OperationUpstream, ServedOperation } from '../../types/operations/operation.ts'
import type { OperationAnswer } from '../../types/operations/operations.ts'
import type { Provider } from '../../types/ports/provider.ts'
import type { Attempt, Candidate } from '../../types/request/context.ts'
import type { Result } from '../../types/request/result.ts'
import { CallState, codecContext } from '../call-state.ts'
import type { RequestState } from '../context.ts'
import type { Runtime } from '../runtime.ts'
import { bookDiscarded } from '../steps.ts'
import { UpstreamCalls } from './upstream.ts'

/** Sends the request to the attempt's candidate. @throws GatewayError with a message free of secrets. */
export async function sendOperation(
  runtime: Runtime,
  ctx: RequestState,
  attempt: Attempt,
  provider: Provider,
  driver: OperationDriver,
): Promise<Result> {
  const { candidate } = attempt
  const { hooks } = ctx
  const served = servedBy(provider, candidate, driver)
  if (typeof served.codec === 'string') attempt.wireFormat = served.codec
  // Wire formats of operations are codecs, not dialects: every one authenticates like OpenAI's.
  const codec = codecContext(runtime, ctx, candidate, provider, 'chat')
  const call = new CallState(ctx, candidate, codec)
  const preparing = hooks.prepare?.(ctx, call)
  if (preparing) await preparing
  ctx.codec = codec
  ctx.facts = null
  const own = typeof served.codec === 'function' ? served.codec : driver.codecs[served.codec]
  const send = own as unknown as AnyCodec | undefined
  if (send === undefined) throw new Error(`The operation ${driver.id} has no codec \`${served.codec}\`.`)
  const upstream = new UpstreamCalls(runtime, ctx, call, provider, served)
  try {
    const reply = await send(call.request, upstream)
    if (reply.stream === undefined) upstream.charged(reply.usage)
    ctx.throwIfStopped()
    ctx.facts = { content: true, contentBytes: 0, terminal: true, usage: reply.usage, finish: null, error: null }
    return { kind: 'answer', reply }
  } catch (error) {
    const own = upstream.clean(GatewayError.from(error))
    if (upstream.usage !== null) bookDiscarded(runtime, ctx, candidate, upstream.usage, own.status)
    throw own
  }
}

type AnyCodec = (request: unknown, upstream: OperationUpstream) => Promise<OperationReply<OperationAnswer>>

/** @throws GatewayError: the executor continues with a candidate that serves the operation. */
function servedBy(provider: Provider, { connection, target }: Candidate, driver: OperationDriver): ServedOperation {
  const served = provider.operations?.[driver.id]
  if (served !== undefined && serves(served, target.model)) return served as ServedOperation
  throw GatewayError.unsupported('model', `The provider \`${connection.provider}\` does not serve ${driver.id} here.`)
}
