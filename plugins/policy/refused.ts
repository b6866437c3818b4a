// Tests whether an upstream's refusal means that this kind of credential is not allowed at all.
import type { GatewayErrorShape } from '../../core/types/error.ts'

/**
 * An error may quote the caller, whose words must not block a provider: only a sentence at the very start counts, which is the
 * vendor's own.
 */
const CREDENTIAL =
  /^(?:this|your|the) (?:oauth )?(?:credential|token|subscription|account)\b[^."]{0,60}\b(?:only (?:be )?(?:authori[sz]ed|used|allowed|valid)|not (?:authori[sz]ed|allowed|permitted) (?:for|to))\b[^."]{0,60}\b(?:use|used|apps?|applications?|clients?|third[- ]party)\b/i
const THIRD_PARTY = /^third[- ]party (?:apps?|applications?|clients?|tools?|use)\b/i

export function isPolicyRefusal({ upstream, message }: GatewayErrorShape): boolean {
  if (upstream === null || ![400, 401, 403].includes(upstream.status)) return false
  return CREDENTIAL.test(message) || THIRD_PARTY.test(message)
}
