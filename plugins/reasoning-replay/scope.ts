// The scope of stored thoughts, and the key of thoughts that came with a tool call.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { RequestContext } from '../../core/types/context.ts'

/** The key of a call of the request that it was made for. */
export type KeyOf = (callId: string, args: string) => string

/**
 * Some upstreams count their calls, so that two conversations have the same ids: the arguments tell them apart.
 * @param mac of what names a call: a key shows neither id nor arguments.
 */
export function keysOf({ principal, candidate }: RequestContext, mac: (data: string) => string): KeyOf {
  const scope = [principal.orgId, principal.keyId, candidate?.connection.provider, candidate?.target.model]
  return (callId, args) => mac(JSON.stringify([...scope, callId, normalised(args)]))
}

/** Callers may have parsed and rewritten the arguments. */
function normalised(args: string): string {
  try {
    return comparableJson(JSON.parse(args === '' ? '{}' : args))
  } catch {
    return args
  }
}
