// Runs one attempt: prepare → encode or splice → encoded → transport. The attempt chooses its lane.
import { GatewayError } from '../errors/gateway-error.ts'
import { forkBody, parseInTurns } from '../json/wire-body.ts'
import { capsOf } from '../models/model-caps.ts'
import { checkedModelId } from '../models/model-id.ts'
import type { ConnectionService } from '../services.ts'
import { LARGE_BODY, LARGE_REQUEST } from '../timing/yield-queue.ts'
import type { MediaOperation } from '../types/operations/operations.ts'
import type { WireRequest } from '../types/ports/ports.ts'
import type { Provider } from '../types/ports/provider.ts'
import type { Awaitable, Dialect } from '../types/request/canonical.ts'
import type { Attempt, Candidate } from '../types/request/context.ts'
import type { DialectDriver } from '../types/request/dialect.ts'
import type { Result } from '../types/request/result.ts'
import { authorize, credentialOf } from './authorize.ts'
import { CallState, codecContext } from './call-state.ts'
import type { RequestState } from './context.ts'
import { ErrorCleaner } from './error-cleaner.ts'
import { sendOperation } from './operations/attempt.ts'
import { inlineRemote } from './remote-media.ts'
import { driver, type Runtime } from './runtime.ts'
import { hasBatch, stagesOf } from './staged-sink.ts'
import { discardLastAnswer } from './steps.ts'
import { callUpstream } from './upstream.ts'
import { addressOf, proxyFor } from './upstream-url.ts'
import { replaySource } from './whole-answer.ts'

/** Sends the request to the attempt's candidate. Resolves at the commit point. @throws GatewayError with a message free of secrets. */
export function sendAttempt(runtime: Runtime, ctx: RequestState, attempt: Attempt): Promise<Result> {
  try {
    ctx.throwIfStopped()
    const { connection, target } = attempt.candidate
    // Checks every model id, also one from a stored route, a panel or a header.
    checkedModelId(target.model)
    const provider = runtime.provider(connection.provider)
    const operation = runtime.operations.get(ctx.operation as MediaOperation)
    // A promise that an async function returns costs three more turns of the microtask queue.
    return operation === undefined
      ? sendConversation(runtime, ctx, attempt, provider)
      : sendOperation(runtime, ctx, attempt, provider, operation)
  } catch (error) {
    return Promise.reject(error)
  }
}

async function sendConversation(runtime: Runtime, ctx: RequestState, attempt: Attempt, provider: Provider): Promise<Result> {
  const { candidate } = attempt
  const { connection } = candidate
  const { hooks } = ctx
  const dialect = upstreamDialect(ctx, candidate, provider)
  attempt.wireFormat = dialect
  const codec = codecContext(runtime, ctx, candidate, provider, dialect)
  if (ctx.bodyBytes > LARGE_REQUEST && dialect !== ctx.dialect && ctx.body !== null) await parseInTurns(ctx.body, runtime.turns)
  const call = new CallState(ctx, candidate, codec)
  const preparing = hooks.prepare?.(ctx, call)
  if (preparing) await preparing
  ctx.codec = codec
  ctx.facts = null
  // A candidate can change which stages apply.
  ctx.stages = undefined
  if (provider.answer !== undefined) return local(provider, call, ctx)

  const upstream = driver(runtime, dialect)
  if (ctx.bodyBytes > LARGE_BODY) await runtime.turns.next()
  const encoding = encode(runtime, ctx, call, upstream)
  const path = typeof encoding === 'string' ? encoding : await encoding
  const editing = hooks.encoded?.(ctx, call)
  if (editing) await editing
  const credential = credentialOf(connectionService(ctx), connection, runtime.clock)
  const secret = credential instanceof Promise ? await credential : credential
  const url = addressOf(connection, provider, dialect, path)
  const wire: WireRequest = {
    method: 'POST',
    url,
    headers: wireHeaders(call, connection.headers, ctx.stream),
    body: call.body.toBytes(),
    proxyUrl: proxyFor(runtime, ctx.generation, connection, url, ctx),
    connectTimeoutMs: runtime.options.connectTimeoutMs,
    stream: ctx.stream,
  }
  try {
    const authorizing = authorize(provider, wire, dialect, secret, candidate, runtime.clock)
    if (authorizing) await authorizing
    ctx.throwIfStopped()
    const cleaner = new ErrorCleaner(wire.headers, secret, candidate)
    const send = () => {
      const byteLane = answersInBytes(ctx, call, upstream)
      attempt.lane = byteLane ? 'bytes' : 'events'
      return callUpstream({ runtime, ctx, codec, driver: upstream, byteLane, cleaner }, wire)
    }
    const result = await send()
    if (result.kind !== 'full' || !isMalformed(result, ctx)) return result
    // When the upstream's model produced a malformed tool call, one more call is worthwhile while nothing was delivered.
    ctx.lastAnswer = result
    discardLastAnswer(runtime, ctx)
    return await send()
  } catch (error) {
    const own = GatewayError.from(error)
    const status = own.upstream?.status
    if (provider.refused !== undefined && (status === 401 || status === 403)) provider.refused(secret)
    throw new ErrorCleaner(wire.headers, secret, candidate).clean(own)
  }
}

export function upstreamDialect(ctx: RequestState, { connection, target }: Candidate, provider: Provider): Dialect {
  const dialect =
    connection.wireFormat ??
    provider.dialectFor(() => ctx.request, ctx.dialect, capsOf(provider, connection, target.model), connection)
  if (ctx.operation === 'count_tokens' && dialect !== 'messages' && dialect !== ctx.dialect) {
    throw GatewayError.unsupported('model', 'This model’s provider cannot count tokens.')
  }
  return dialect
}

function local(provider: Provider, call: CallState, ctx: RequestState): Result {
  const result = provider.answer?.(call.request, call.codec) as Result
  // A local provider returns a whole answer; for a stream the gateway replays it.
  return ctx.stream && result.kind === 'full' ? { kind: 'stream', source: replaySource(result.response) } : result
}

function encode(runtime: Runtime, ctx: RequestState, call: CallState, upstream: DialectDriver): Awaitable<string> {
  if (call.lane === 'bytes' && ctx.body !== null) {
    const body = forkBody(ctx.body)
    const spliced = upstream.spliceRequest(body, call.codec, ctx.headers)
    call.body = body
    addAll(call, spliced.headers)
    return spliced.path
  }
  const remote = upstream.remoteMedia?.(call.request) ?? []
  if (remote.length > 0) return inlineRemote(runtime, ctx, call, upstream, remote).then(() => encoded(runtime, call, upstream))
  return encoded(runtime, call, upstream)
}

function encoded({ turns }: Runtime, call: CallState, upstream: DialectDriver): Awaitable<string> {
  const wire = upstream.encodeRequest(call.request, call.codec)
  addAll(call, wire.headers)
  if (wire.bodyInTurns !== undefined)
    return wire.bodyInTurns(turns).then((body) => {
      call.body = body
      return wire.path
    })
  call.body = wire.body
  return wire.path
}

/** Returns whether the answer may stay bytes: the dialects agree, and nothing on the way back needs events or restored names. */
function answersInBytes(ctx: RequestState, call: CallState, upstream: DialectDriver): boolean {
  const { codec } = call
  if (codec.caller !== codec.upstream) return false
  if (ctx.stream && upstream.decodeBytes !== undefined) return false
  if (call.lane === 'events') {
    for (const [sanitised, original] of codec.names) if (sanitised !== original) return false
    if (codec.notes.size > 0) return false
  }
  if (!ctx.stream) return true
  // An internal caller reads events, and its parent's dialect may differ.
  if (ctx.ingress === null) return false
  return !(stagesOf(ctx)?.active ?? false) && !hasBatch(ctx)
}

function isMalformed(result: Extract<Result, { kind: 'full' }>, ctx: RequestState): boolean {
  const finish = ctx.facts?.finish ?? result.response.choices[0]?.finish
  return finish === 'malformed_tool_call'
}

function addAll(call: CallState, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) call.headers.set(headers[i] as string, headers[i + 1] as string)
}

function wireHeaders(call: CallState, own: Readonly<Record<string, string>>, stream: boolean): string[] {
  const headers = call.headers
  for (const name in own) headers.set(name, own[name] as string)
  return [
    'content-type',
    'application/json',
    ...(headers.has('accept') ? [] : ['accept', stream ? 'text/event-stream' : 'application/json']),
    'accept-encoding',
    'identity',
    ...headers.flat(),
  ]
}

function connectionService(ctx: RequestState): ConnectionService {
  return ctx.generation.service('connections') as ConnectionService
}
