// Completions at OpenAI-like vendors, and fill-in-the-middle at Mistral.
import { addedUsage } from '../../../core/calls/derived-answer.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import { estimateText } from '../../../core/models/token-estimate.ts'
import type { OperationCodec, OperationUpstream } from '../../../core/types/operations/operation.ts'
import type { CompletionsAnswer, CompletionsRequest } from '../../../core/types/operations/operations.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, missing, parsed } from '../shared/answers.ts'
import { begun } from '../shared/frames.ts'
import { leftOut } from '../shared/left-out.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'
import { promptTexts } from './caller.ts'
import { passedChunks } from './stream.ts'

type Asked = Frozen<CompletionsRequest>

export const openaiCompletions: OperationCodec<'completions'> = async (request, upstream) => {
  const streams = request.stream && !upstream.whole
  const body = streams === request.stream ? (upstream.wire ?? writable(request)) : writable({ ...request, stream: streams })
  if ('bytes' in body) prepare(body as WireBody, upstream, streams)
  else Object.assign(body, { model: upstream.model }, streams ? { stream_options: { include_usage: true } } : {})
  if (!streams) return whole(request, upstream, '/completions', body, ({ text }) => loose(text))
  const answer = await begun(await upstream.stream({ path: '/completions', body, accept: 'text/event-stream' }))
  const { source, counted } = passedChunks(answer, request.includeUsage)
  const usage = (): Usage => {
    const { reported, bytes } = counted()
    return reportedUsage(reported) ?? guessed(request, bytes)
  }
  return {
    usage: guessed(request, 0),
    answer: () => ({ model: upstream.model, usage: usage(), id: '', created: 0, choices: [] }),
    stream: { contentType: 'text/event-stream; charset=utf-8', source, usage },
  }
}

/** The vendor reports usage in a stream only when it is asked for it. */
function prepare(wire: WireBody, { model }: OperationUpstream, streams: boolean): void {
  wire.set('model', model)
  if (!streams) return
  const options = wire.get('stream_options')
  wire.set('stream_options', { ...(isObject(options) ? options : {}), include_usage: true })
}

/** The most prompts of one request: each one is a call. */
const MOST_PROMPTS = 20

/** Mistral fills gaps of one text at its own path, and answers in the shape of chat. It has no stream here: the answer is one chunk. */
export const mistralCompletions: OperationCodec<'completions'> = async (request, upstream) => {
  const { prompts, suffix, maxTokens, temperature, topP, stop, extra, count, bestOf, logprobs } = request
  if (count > 1) throw GatewayError.unsupported('n', 'This target returns one answer only.')
  if (prompts.length > MOST_PROMPTS)
    throw GatewayError.unsupported('prompt', `This target takes at most ${MOST_PROMPTS} prompts in one request.`)
  if (prompts.some((one) => typeof one !== 'string'))
    throw GatewayError.unsupported('prompt', 'This target takes texts, not tokens.')
  leftOut(upstream.codec, { logprobs, best_of: bestOf === 1 ? undefined : bestOf })
  const body = (prompt: string): JsonObject => ({
    ...(extra as JsonObject),
    model: upstream.model,
    prompt,
    ...(suffix === undefined ? {} : { suffix }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined ? {} : { stop: stop as string[] }),
  })
  const made: CompletionsAnswer[] = []
  const total = () => made.map(({ usage }) => usage).reduce(addedUsage)
  for (const [index, prompt] of (prompts as readonly string[]).entries()) {
    const textOf = ({ message }: JsonObject) => (request.echo ? prompt : '') + (isObject(message) ? loose(message.content) : '')
    const one = { ...request, prompts: [prompt], stream: true }
    const { choices, ...answer } = (await whole(one, upstream, '/fim/completions', body(prompt), textOf)).answer()
    made.push({ ...answer, choices: choices.slice(0, 1).map((choice) => ({ ...choice, index })) })
    upstream.charged(total())
  }
  const usage = total()
  const answer = { ...(made[0] as CompletionsAnswer), choices: made.flatMap(({ choices }) => choices), usage }
  return { usage, answer: () => answer }
}

async function whole(
  request: Asked,
  upstream: OperationUpstream,
  path: string,
  body: JsonObject | WireBody,
  textOf: (choice: JsonObject) => string,
) {
  const answer = await upstream.send({ path, body })
  const json = parsed(answer)
  if (!Array.isArray(json.choices)) throw missing('choices')
  const choices = json.choices.filter(isObject).map((choice, at) => ({
    index: tokenCount(choice.index) ?? at,
    text: textOf(choice),
    finish: typeof choice.finish_reason === 'string' ? choice.finish_reason : null,
    logprobs: choice.logprobs ?? null,
  }))
  const bytes = choices.reduce((sum, { text }) => sum + text.length, 0)
  const usage = reportedUsage(json.usage) ?? guessed(request, bytes)
  const made: CompletionsAnswer = {
    id: loose(json.id),
    created: tokenCount(json.created) ?? 0,
    model: loose(json.model) || upstream.model,
    choices,
    usage,
  }
  return {
    usage,
    answer: () => made,
    ...(request.stream ? {} : { wire: { contentType: JSON_TYPE, body: answer.bytes } }),
  }
}

/** When the vendor reports nothing: 3.6 characters per token of input, 4 bytes per token of output. */
function guessed(request: Asked, bytes: number): Usage {
  const input = promptTexts.read(request).reduce((sum, text) => sum + estimateText(text), 0)
  return usageOf({ input: Math.ceil(input), output: Math.ceil(bytes / 4), estimated: true })
}

function writable({
  prompts,
  single,
  suffix,
  maxTokens,
  count,
  bestOf,
  echo,
  logprobs,
  stop,
  temperature,
  topP,
  stream,
  extra,
}: Asked): JsonObject {
  return {
    ...(extra as JsonObject),
    prompt: (single ? prompts[0] : prompts) as Json,
    ...(suffix === undefined ? {} : { suffix }),
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(count === 1 ? {} : { n: count }),
    ...(bestOf === undefined ? {} : { best_of: bestOf }),
    ...(echo ? { echo } : {}),
    ...(logprobs === undefined ? {} : { logprobs }),
    ...(stop === undefined ? {} : { stop: stop as string[] }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stream ? { stream } : {}),
  }
}
