// A settled exchange for the log. It is captured on the request path and formatted later.
import { answererOf, isShared } from '../../core/records/request-record.ts'
import type { GatewayErrorShape } from '../../core/types/error.ts'
import type { Dialect, Json } from '../../core/types/request/canonical.ts'
import type { Attempt, Outcome, RequestContext } from '../../core/types/request/context.ts'

export interface Entry {
  readonly requestId: string
  readonly orgId: number | null
  /** Start of the request, epoch ms. */
  readonly at: number
  readonly source: string
  readonly endpoint: string | null
  readonly wireFormat: Dialect
  readonly keyId: number | null
  readonly keyLabel: string | null
  readonly userId: string | null
  readonly sessionId: string | null
  readonly costCenter: string | null
  readonly provider: string | null
  readonly connectionId: string | null
  readonly model: string | null
  readonly requestedModel: string
  readonly virtualModel: string | null
  readonly stream: boolean
  readonly attempts: readonly Attempt[]
  readonly properties: Readonly<Record<string, string>> | null
  /** Annotations of plugins. */
  readonly notes: Readonly<Record<string, Json>> | null
  readonly freePool: boolean
  readonly requestBytes: number
  readonly outcome: Outcome
}

export function entryOf(ctx: RequestContext, outcome: Outcome): Entry {
  const { principal, ingress } = ctx
  const answered = answererOf(ctx, outcome)
  return {
    requestId: ctx.id,
    orgId: principal.orgId,
    at: ctx.startedAt,
    source: ctx.source,
    endpoint: ingress === null ? null : ingress.path,
    wireFormat: ctx.dialect,
    keyId: principal.keyId,
    keyLabel: principal.label,
    userId: ctx.userId,
    sessionId: ctx.sessionId,
    costCenter: ctx.costCenter,
    provider: answered?.provider ?? null,
    connectionId: answered?.connectionId ?? null,
    model: answered?.model ?? null,
    requestedModel: ctx.requestedModel,
    virtualModel: ctx.virtualModel,
    stream: ctx.stream,
    attempts: ctx.attempts,
    properties: ctx.properties,
    notes: ctx.notes,
    freePool: isShared(ctx, outcome),
    requestBytes: ctx.bodyBytes,
    outcome,
  }
}

const MAX_CAUSES = 8
const VENDOR_CODE = /^[\w.:-]{1,64}$/

/**
 * Returns the error message for records, in the gateway's own text. A vendor's message may quote the prompt, so it is stored only with
 * the body.
 */
export function messageOf(error: GatewayErrorShape): string {
  const vendor = vendorFailure(error)
  if (vendor === null) return error.message
  const code = vendor.vendorCode !== null && VENDOR_CODE.test(vendor.vendorCode) ? ` (${vendor.vendorCode})` : ''
  return `The upstream answered ${vendor.status}${code}. Its own words are kept with the bodies, where those are logged.`
}

/** The code, unless a vendor put a sentence there. */
export function codeOf({ code }: GatewayErrorShape): string | null {
  return code !== null && VENDOR_CODE.test(code) ? code : null
}

/** Also of an error that was made from a vendor's and repeats its words. */
function vendorFailure(error: GatewayErrorShape) {
  let at: unknown = error
  for (let i = 0; i < MAX_CAUSES && at instanceof Error; i++) {
    const { upstream } = at as Partial<GatewayErrorShape>
    if (upstream && (upstream.kind === 'status' || upstream.kind === 'stream')) return upstream
    at = at.cause
  }
  return null
}
