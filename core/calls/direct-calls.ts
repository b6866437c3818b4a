// Makes calls outside the pipeline, over the same transport and with the same credentials as requests. No hooks run, and only the caller
// books anything.
import { GatewayError } from '../errors/gateway-error.ts'
import { withoutSecrets } from '../errors/without-secrets.ts'
import { headerBag } from '../http/headers.ts'
import { authorize, credentialOf } from '../pipeline/authorize.ts'
import { RequestState } from '../pipeline/context.ts'
import { ANONYMOUS } from '../pipeline/context-init.ts'
import type { Runtime } from '../pipeline/runtime.ts'
import { settle } from '../pipeline/settle.ts'
import { joinUrl, proxyFor } from '../pipeline/upstream-url.ts'
import type { ConnectionService, DirectAnswer, DirectCallOptions, DirectCalls, SideBill } from '../services.ts'
import { concatBytes, encodeUtf8 } from '../text/bytes.ts'
import { credentialsOf } from '../text/sanitize.ts'
import type { HeaderBag, WireRequest } from '../types/ports/ports.ts'
import type { Connection } from '../types/ports/provider.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { Outcome } from '../types/request/context.ts'

const MAX_BYTES = 1024 * 1024

// Settles a direct call that a vendor bills, like an internal call: ledger, metrics and log record it under its source. It has no key, so
// it counts against no key's budget.
function bookSideCall(runtime: Runtime, bill: SideBill): Outcome {
  const { connection, model, operation, source, orgId, usage, status, startedAt } = bill
  const { generation, clock } = runtime
  const latencyMs = Math.max(0, clock.now() - startedAt)
  const ctx = new RequestState({
    ingress: null,
    generation,
    slotCount: runtime.slotCount,
    operation,
    dialect: 'chat',
    source,
    headers: headerBag(),
    now: startedAt,
    monotonic: clock.monotonic() - latencyMs,
  })
  const target = { provider: connection.provider, model, connectionId: connection.id, weight: 1 }
  ctx.requestedModel = `${connection.provider}/${model}`
  ctx.principal = { ...ANONYMOUS, orgId }
  ctx.plan = { targets: [target], strategy: 'direct', virtualModel: null }
  ctx.candidate = { target, connection }
  ctx.facts = { content: true, contentBytes: 0, terminal: true, usage, finish: null, error: null }
  ctx.add({ candidate: ctx.candidate, startedAt, status, latencyMs, usage, action: 'returned' })
  return settle(runtime, ctx, { status, error: null, firstByteAt: null })
}

export function directCalls(runtime: Runtime): DirectCalls {
  return {
    get: (connection, path, timeoutMs) => connected(runtime, connection, 'GET', path, null, timeoutMs),
    post: (connection, path, body, timeoutMs) =>
      connected(runtime, connection, 'POST', path, encodeUtf8(JSON.stringify(body)), timeoutMs),
    book: (bill) => bookSideCall(runtime, bill),
    viaProxy(proxyUrl, url, timeoutMs, options = {}) {
      const wire = wireOf(runtime, options.body === undefined ? 'GET' : 'POST', url, proxyUrl, null)
      wire.headers.push(...(options.headers ?? []))
      wire.body = options.body === undefined ? null : [options.body]
      return fetched(runtime, wire, timeoutMs, options)
    },
  }
}

/** Sends a request with the address, key, headers and proxy of a connection. */
async function connected(
  runtime: Runtime,
  connection: Connection,
  method: 'GET' | 'POST',
  path: string,
  body: Uint8Array | null,
  timeoutMs: number,
): Promise<DirectAnswer> {
  const { generation } = runtime
  const provider = runtime.provider(connection.provider)
  const dialect = connection.wireFormat ?? (Object.keys(provider.dialects)[0] as Dialect | undefined) ?? 'chat'
  const base = connection.baseUrl ?? provider.baseUrl
  if (base === null) throw GatewayError.invalid('base_url', 'The connection has no address.')
  const url = joinUrl(base, path)
  const secret = await credentialOf(generation.service('connections') as ConnectionService, connection, runtime.clock)
  const wire = wireOf(runtime, method, url, proxyFor(runtime, generation, connection, url, null), body)
  for (const name in connection.headers) wire.headers.push(name, connection.headers[name] as string)
  try {
    await authorize(provider, wire, dialect, secret, { connection, target: null }, runtime.clock)
    return await fetched(runtime, wire, timeoutMs)
  } catch (error) {
    throw withoutSecrets(GatewayError.from(error), credentialsOf(connection, secret))
  }
}

function wireOf(
  { options }: Runtime,
  method: 'GET' | 'POST',
  url: string,
  proxyUrl: string | null,
  body: Uint8Array | null,
): WireRequest {
  return {
    method,
    url,
    headers: [
      ...['accept', 'application/json', 'accept-encoding', 'identity'],
      ...(body === null ? [] : ['content-type', 'application/json']),
    ],
    body: body === null ? null : [body],
    proxyUrl,
    connectTimeoutMs: options.connectTimeoutMs,
    stream: false,
  }
}

function fetched(
  { transport, clock }: Runtime,
  wire: WireRequest,
  timeoutMs: number,
  { maxBytes = MAX_BYTES, signal }: DirectCallOptions = {},
): Promise<DirectAnswer> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(ended())
    const chunks: Uint8Array[] = []
    let head: { status: number; headers: HeaderBag } | null = null
    let size = 0
    const give = (reason: GatewayError) => {
      sent.abort(reason)
      over()
      reject(reason)
    }
    const over = () => {
      timer.cancel()
      signal?.removeEventListener('abort', stop)
    }
    const stop = () => give(ended())
    signal?.addEventListener('abort', stop)
    const timer = clock.timer(timeoutMs, () => give(GatewayError.timeout(`No answer within ${timeoutMs / 1000} s.`)), true)
    const sent = transport.send(wire, {
      head(status, headers) {
        head = { status, headers }
      },
      data(chunk) {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else give(GatewayError.protocol('The answer is larger than the limit.'))
        return undefined
      },
      end() {
        over()
        if (head === null) reject(GatewayError.protocol('The upstream sent an empty answer.'))
        else resolve({ ...head, body: concatBytes(chunks) })
      },
      error(error) {
        over()
        reject(error)
      },
    })
  })
}

function ended(): GatewayError {
  return GatewayError.unavailable('The call was ended here.', { code: 'shutting_down' })
}
