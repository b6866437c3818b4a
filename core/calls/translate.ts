// Reads a draft request and writes it in other dialects, with the codecs of the pipeline. No upstream is called and nothing is stored.
import { GatewayError } from '../errors/gateway-error.ts'
import { headerBag } from '../http/headers.ts'
import { forkBody, wireBody } from '../json/wire-body.ts'
import { largeBody, smallBody, takeBody } from '../pipeline/admission.ts'
import { upstreamDialect } from '../pipeline/attempt.ts'
import { codecContext, NO_CONNECTION } from '../pipeline/call-state.ts'
import type { RequestState } from '../pipeline/context.ts'
import { ANONYMOUS } from '../pipeline/context-init.ts'
import { contextFor, resolve } from '../pipeline/pipeline.ts'
import { driver, type Runtime } from '../pipeline/runtime.ts'
import { addressOf } from '../pipeline/upstream-url.ts'
import type { ConnectionService } from '../services.ts'
import { concatBytes } from '../text/bytes.ts'
import { credentialsOf } from '../text/sanitize.ts'
import { secretMask } from '../text/secret-mask.ts'
import { shownRequest } from '../text/shown-request.ts'
import { LARGE_BODY } from '../timing/yield-queue.ts'
import type { Encoding, ReadDraft, Translator } from '../types/playground.ts'
import type { Connection } from '../types/ports/provider.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../types/request/canonical.ts'
import type { Candidate } from '../types/request/context.ts'
import type { DialectDriver, WireBody } from '../types/request/dialect.ts'
import { draftCall, draftIngress } from './draft-call.ts'
import { lostMembers } from './lost-members.ts'

const SOURCE = 'playground'

export function translator(runtime: Runtime): Translator {
  return {
    async read(draft, orgId): Promise<ReadDraft> {
      const call = draftCall(draft)
      const ingress = draftIngress(call, { orgId, keyId: null, source: SOURCE })
      const route = runtime.routes.match(ingress)
      const bytes = await ingress.body(route.bodyLimit)
      const body = bytes.length > LARGE_BODY ? await largeBody(runtime, bytes) : smallBody(runtime, bytes)
      // Each encoding has its own context, because a context collects the warnings.
      const context = (): RequestState => {
        const ctx = contextFor(runtime, ingress, route)
        ctx.principal = { ...ANONYMOUS, orgId }
        takeBody(runtime, ctx, route, ingress, body)
        return ctx
      }
      const { request } = context()
      return {
        request,
        plan: async () => resolve(context()),
        encoded: (dialect) => encoding(runtime, context(), neutral(request.model), dialect, null),
        encodedFor(candidate) {
          const ctx = context()
          const { connection } = candidate
          const provider = runtime.provider(connection.provider)
          const dialect = upstreamDialect(ctx, candidate, provider)
          if (provider.answer !== undefined) return { dialect, request: null, warnings: [], error: null }
          return encoding(runtime, ctx, candidate, dialect, (path) => addressOf(connection, provider, dialect, path))
        },
      }
    },
  }
}

/** A target without deviations. The facts are those of the model's family. */
function neutral(requested: string): Candidate {
  const model = requested.slice(requested.indexOf('/') + 1)
  return { target: { provider: 'gateway', model, connectionId: null, weight: 1 }, connection: NO_CONNECTION }
}

function encoding(
  runtime: Runtime,
  ctx: RequestState,
  candidate: Candidate,
  dialect: Dialect,
  /** null: the path alone is shown. */
  addressOf: ((path: string) => string) | null,
): Encoding {
  const { connection } = candidate
  const codec = codecContext(runtime, ctx, candidate, runtime.provider(connection.provider), dialect)
  const upstream = driver(runtime, dialect)
  const known = () => (ctx.warnings === '' ? [] : ctx.warnings.split(','))
  try {
    const same = ctx.dialect === dialect && ctx.body !== null
    const body = same ? forkBody(ctx.body as WireBody) : null
    const { request: inline, unfetched } = inlined(ctx, upstream)
    const wire =
      body === null ? upstream.encodeRequest(inline, codec) : { ...upstream.spliceRequest(body, codec, ctx.headers), body }
    const lost = body === null ? lostIn(ctx.request, upstream, wire.body) : []
    const accept = ctx.stream ? 'text/event-stream' : 'application/json'
    const own = Object.entries(connection.headers).flat()
    const request = shownRequest(
      {
        method: 'POST',
        url: addressOf === null ? wire.path : addressOf(wire.path),
        headers: ['content-type', 'application/json', 'accept', accept, ...wire.headers, ...own],
        body: wire.body.toBytes(),
      },
      secretMask(credentialsOf(connection, secretOf(ctx, connection))),
    )
    const warnings = [...new Set([...known(), ...lost, ...(unfetched ? ['media_not_fetched'] : [])])]
    return { dialect, request, warnings, error: null }
  } catch (thrown) {
    if (!GatewayError.is(thrown)) throw thrown
    return { dialect, request: null, warnings: known(), error: thrown }
  }
}

function secretOf({ generation }: RequestState, connection: Connection): string | null {
  const connections = generation.service('connections') as ConnectionService | undefined
  return connection === NO_CONNECTION ? null : (connections?.secretOf(connection) ?? null)
}

/** Takes the place of media that the gateway would fetch for this target. */
const UNFETCHED = { mime: 'application/octet-stream', data: '' }

function inlined(ctx: RequestState, upstream: DialectDriver): { request: Frozen<CanonicalRequest>; unfetched: boolean } {
  const remote = upstream.remoteMedia?.(ctx.request) ?? []
  if (remote.length === 0 || upstream.inlineMedia === undefined) return { request: ctx.request, unfetched: false }
  return { request: upstream.inlineMedia(ctx.request, new Map(remote.map((url) => [url, UNFETCHED]))), unfetched: true }
}

function lostIn(request: Frozen<CanonicalRequest>, upstream: DialectDriver, body: WireBody): string[] {
  try {
    const bytes = concatBytes(body.toBytes())
    return lostMembers(request, upstream.decodeRequest(wireBody(bytes), headerBag(), { model: 'm', operation: 'chat' }))
  } catch (error) {
    // Targets accept more than callers may send.
    if (GatewayError.is(error)) return []
    throw error
  }
}
