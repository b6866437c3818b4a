// Turns the prompts of a completion into chat requests.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Json } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'

/** Each prompt is one call. */
const MOST_PROMPTS = 20

/** @throws GatewayError 400 for members that a chat model cannot serve. */
export function chatRequests(ctx: RequestContext<'completions'>): CanonicalRequest[] {
  const { prompts, suffix, logprobs, bestOf, count } = ctx.request
  if (suffix !== undefined)
    throw GatewayError.invalid(
      'suffix',
      `\`${ctx.requestedModel}\` only chats: it cannot fill a gap. Leave \`suffix\` out, or use a model that fills gaps.`,
    )
  if (prompts.length > MOST_PROMPTS)
    throw GatewayError.invalid(
      'prompt',
      `\`${ctx.requestedModel}\` only chats: it takes at most ${MOST_PROMPTS} prompts in one request.`,
    )
  if (logprobs !== undefined) ctx.warn('dropped_logprobs')
  if (bestOf !== undefined && bestOf > count) ctx.warn('dropped_best_of')
  return prompts.map((prompt) => {
    if (typeof prompt === 'string') return chatRequest(ctx, prompt)
    throw GatewayError.invalid('prompt', `\`${ctx.requestedModel}\` only chats: it takes texts, not tokens.`)
  })
}

function chatRequest(ctx: RequestContext<'completions'>, prompt: string): CanonicalRequest {
  const { maxTokens, count, stop, temperature, topP, stream, extra } = ctx.request
  const number = (name: string): number | undefined => (typeof extra[name] === 'number' ? extra[name] : undefined)
  const bias = extra.logit_bias as Record<string, number> | undefined
  const sampling = {
    temperature,
    topP,
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: number('seed'),
    logitBias: bias,
    n: count === 1 ? undefined : count,
  }
  const user = extra.user as Json | undefined
  return {
    model: ctx.requestedModel,
    stream,
    source: 'chat',
    system: [],
    messages: [{ role: 'user', parts: [{ t: 'text', text: prompt }] }],
    tools: [],
    sampling: Object.fromEntries(Object.entries(sampling).filter(([, value]) => value !== undefined)),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(stop === undefined ? {} : { stop: [...stop] }),
    ...(typeof user === 'string' ? { endUser: user } : {}),
    headers: {},
    ext: {},
  }
}
