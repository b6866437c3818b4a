// A guest's view of a request. It names the caller, but never shows a credential.
import type { RequestContext } from '../../core/types/context.ts'

export const ABI = 1

export function guestContext(ctx: RequestContext): object {
  return {
    request_id: ctx.id,
    /** Id of the caller's request, when this is an internal call. */
    parent_id: ctx.parent?.id ?? null,
    operation: ctx.operation,
    dialect: ctx.dialect,
    model: ctx.requestedModel,
    key_id: ctx.principal.keyId,
    key_label: ctx.principal.label,
    org_id: ctx.principal.orgId,
    stream: ctx.stream,
  }
}

/** Those that the manifest asks for and the caller sent. */
export function guestHeaders(ctx: RequestContext, names: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name of names) {
    const value = ctx.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return headers
}
