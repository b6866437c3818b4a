// Computes the scope of stored thoughts, and the key of thoughts that came with a tool call.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

/** Returns the key of a call, within the scope of its request. */
export type KeyOf = (callId: string, args: string) => string

/**
 * Some upstreams number their calls, so that two conversations have the same ids: the arguments distinguish them.
 * @param mac hashes what identifies a call: a key reveals neither id nor arguments.
 */
export function keysOf({ principal, candidate }: RequestContext, mac: (data: string) => string): KeyOf {
  const scope = [principal.orgId, principal.keyId, candidate?.connection.provider, candidate?.target.model]
  return (callId, args) => mac(JSON.stringify([...scope, callId, normalised(args)]))
}

/** Callers may have parsed the arguments and written them again. */
function normalised(args: string): string {
  try {
    return comparableJson(JSON.parse(args === '' ? '{}' : args))
  } catch {
    return args
  }
}
