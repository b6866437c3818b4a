// A vendor that is a gateway itself (OpenRouter, LiteLLM) takes more models in the body and may answer with any of them. The gateway passes
// these members on unread, so a key with an allow-list may not send them.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

const MEMBERS = ['models', 'fallbacks', 'fallback_models', 'context_window_fallbacks', 'content_policy_fallbacks'] as const

export function refuseOtherModels(ctx: RequestContext): void {
  for (const name of MEMBERS) {
    const value = ctx.member(name)
    if (value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)) continue
    throw GatewayError.forbidden(
      `This client key has an allow-list, and \`${name}\` names other models for the upstream. Leave it out, or ask for a virtual model with these targets.`,
    ).with({ param: name })
  }
}
