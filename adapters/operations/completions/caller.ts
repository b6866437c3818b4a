// The caller's side of completions: the legacy format of OpenAI, which editors still send.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isTokenCount } from '../../../core/models/token-count.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { CompletionsAnswer, CompletionsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { booleanField, numberField, objectField, others, textField } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { chunk, DONE, usageChunk, usageObject } from './chunks.ts'

const KNOWN = new Set([
  ...['model', 'prompt', 'suffix', 'max_tokens', 'n', 'best_of', 'echo', 'logprobs', 'stop', 'temperature', 'top_p'],
  ...['stream', 'stream_options'],
])
/** The start of a text, which a vendor takes for an absent prompt. */
const NO_PROMPT = '<|endoftext|>'

/** @throws GatewayError 400 with `param`. */
export function decodeCompletions(body: WireBody): CompletionsRequest {
  const json = body.json() as JsonObject
  const suffix = textField(json, 'suffix')
  const maxTokens = wholeNumber(json, 'max_tokens', 0)
  const bestOf = wholeNumber(json, 'best_of', 1)
  const logprobs = wholeNumber(json, 'logprobs', 0)
  const temperature = numberField(json, 'temperature')
  const topP = numberField(json, 'top_p')
  const stop = stopOf(json.stop)
  const stream = booleanField(json, 'stream') ?? false
  const options = objectField(json, 'stream_options') ?? {}
  const usage = booleanField(options, 'include_usage', 'stream_options.include_usage') ?? false
  const count = wholeNumber(json, 'n', 1) ?? 1
  if (bestOf !== undefined && bestOf < count) throw GatewayError.invalid('best_of', '`best_of` must be at least `n`.')
  return {
    model: modelOf(json),
    ...promptsOf(json.prompt),
    count,
    echo: booleanField(json, 'echo') ?? false,
    stream,
    includeUsage: stream && usage,
    ...(suffix === undefined || suffix === '' ? {} : { suffix }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(bestOf === undefined ? {} : { bestOf }),
    ...(logprobs === undefined ? {} : { logprobs }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined ? {} : { stop }),
    extra: others(json, KNOWN) ?? {},
  }
}

function wholeNumber(json: JsonObject, name: string, least: number): number | undefined {
  const value = numberField(json, name)
  if (value === undefined || (Number.isInteger(value) && value >= least && value <= 1_000_000)) return value
  throw GatewayError.invalid(name, `\`${name}\` must be a whole number, ${least} or more.`)
}

function stopOf(value: Json | undefined): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const list = Array.isArray(value) ? value : [value]
  if (list.every((one) => typeof one === 'string')) return list
  throw GatewayError.invalid('stop', '`stop` must be a string or a list of strings.')
}

function promptsOf(prompt: Json | undefined): Pick<CompletionsRequest, 'prompts' | 'single'> {
  if (prompt === undefined || prompt === null) return { prompts: [NO_PROMPT], single: true }
  if (typeof prompt === 'string') return { prompts: [prompt], single: true }
  if (Array.isArray(prompt) && prompt.length > 0) {
    if (prompt.every((one) => typeof one === 'string')) return { prompts: prompt, single: false }
    if (isTokens(prompt)) return { prompts: [prompt], single: true }
    if (prompt.every((one) => Array.isArray(one) && one.length > 0 && isTokens(one)))
      return { prompts: prompt as number[][], single: false }
  }
  throw GatewayError.invalid('prompt', '`prompt` must be a string, a list of strings, or lists of tokens, and not empty.')
}

function isTokens(list: readonly Json[]): list is number[] {
  return list.every((token) => typeof token === 'number' && isTokenCount(token))
}

/** A streamed request gets the whole answer as one chunk per choice. */
export function encodeCompletions(
  answer: Frozen<CompletionsAnswer>,
  { stream, includeUsage }: Frozen<CompletionsRequest>,
): EncodedAnswer {
  const { id, created, model, choices, usage } = answer
  if (stream) {
    const text = choices.map((choice) => chunk(answer, choice)).join('')
    return {
      contentType: 'text/event-stream; charset=utf-8',
      body: text + (includeUsage ? usageChunk(answer, usage) : '') + DONE,
    }
  }
  const listed = choices.map(({ index, text, finish, logprobs }) => ({ text, index, logprobs, finish_reason: finish ?? 'stop' }))
  const body = { id, object: 'text_completion', created, model, choices: listed, usage: usageObject(usage) }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}

export const promptTexts: TextsOf<CompletionsRequest> = {
  read: ({ prompts, suffix }) => [
    ...(prompts as readonly (string | readonly number[])[]).filter((one) => typeof one === 'string'),
    ...(suffix === undefined ? [] : [suffix]),
  ],
  replace(request, texts) {
    const left = [...texts]
    const next = (): string => left.shift() as string
    const prompts = (request.prompts as (string | number[])[]).map((one) => (typeof one === 'string' ? next() : one))
    const copy = { ...(request as CompletionsRequest), prompts: prompts as CompletionsRequest['prompts'] }
    return request.suffix === undefined ? copy : { ...copy, suffix: next() }
  },
}

export const completedTexts: TextsOf<CompletionsAnswer> = {
  read: ({ choices }) => choices.map(({ text }) => text),
  replace: (answer, texts) => ({
    ...(answer as CompletionsAnswer),
    choices: answer.choices.map((choice, at) => ({
      ...(choice as CompletionsAnswer['choices'][number]),
      text: texts[at] as string,
    })),
  }),
}
