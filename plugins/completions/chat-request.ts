// Turns the prompts of a completion into chat requests.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'

/** Each prompt is one call. */
const MOST_PROMPTS = 20
/** The prompt of a request that has none. */
const NO_PROMPT = '<|endoftext|>'
/** Members that a chat call has under the same name. */
const CHAT_MEMBERS = new Set(['frequency_penalty', 'presence_penalty', 'seed', 'logit_bias', 'user'])

/** @throws GatewayError 400 for members that a chat model cannot serve. */
export function chatRequests(ctx: RequestContext<'completions'>): CanonicalRequest[] {
  const { prompts, suffix, logprobs, bestOf, count, maxTokens, extra } = ctx.request
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
  if (maxTokens === 0)
    throw GatewayError.invalid('max_tokens', `\`${ctx.requestedModel}\` only chats: \`max_tokens\` must be 1 or more.`)
  for (const name of Object.keys(extra)) if (!CHAT_MEMBERS.has(name) && /^\w{1,40}$/.test(name)) ctx.warn(`dropped_${name}`)
  if (logprobs !== undefined) ctx.warn('dropped_logprobs')
  if (bestOf !== undefined && bestOf > count) ctx.warn('dropped_best_of')
  return prompts.map((prompt) => {
    if (typeof prompt !== 'string')
      throw GatewayError.invalid('prompt', `\`${ctx.requestedModel}\` only chats: it takes texts, not tokens.`)
    if (prompt.trim() === '' || prompt === NO_PROMPT)
      throw GatewayError.invalid('prompt', `\`${ctx.requestedModel}\` only chats: \`prompt\` must be a text that is not empty.`)
    return chatRequest(ctx, prompt)
  })
}

function chatRequest(ctx: RequestContext<'completions'>, prompt: string): CanonicalRequest {
  const { maxTokens, count, stop, temperature, topP, stream, extra } = ctx.request
  const number = (name: string): number | undefined => member(extra, name, 'a number', isNumber)
  const bias = member(extra, 'logit_bias', 'an object of numbers', isBias)
  const user = member(extra, 'user', 'a string', isText)
  const sampling = {
    temperature,
    topP,
    frequencyPenalty: number('frequency_penalty'),
    presencePenalty: number('presence_penalty'),
    seed: number('seed'),
    logitBias: bias,
    n: count === 1 ? undefined : count,
  }
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
    ...(user === undefined ? {} : { endUser: user }),
    headers: {},
    ext: {},
  }
}

/** @throws GatewayError 400 naming the member. */
function member<T>(extra: Frozen<JsonObject>, name: string, wanted: string, is: (value: unknown) => value is T): T | undefined {
  const value: Frozen<Json> | undefined = extra[name]
  if (value === undefined || is(value)) return value as T | undefined
  throw GatewayError.invalid(name, `\`${name}\` must be ${wanted}.`)
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
const isText = (value: unknown): value is string => typeof value === 'string'

function isBias(value: unknown): value is Record<string, number> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(isNumber)
}
