// The caller's side of embeddings: the format of OpenAI.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isTokenCount } from '../../../core/models/token-count.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsAnswer, EmbeddingsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { numberField, others, textField } from '../../dialects/shared/fields.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { encodeForGoogle } from './google-caller.ts'
import { inEncoding } from './vectors.ts'

const KNOWN = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user', 'input_type'])

/** @throws GatewayError 400 with `param`. */
export function decodeEmbeddings(body: WireBody): EmbeddingsRequest {
  const json = body.json() as Parameters<typeof others>[0]
  const format = textField(json, 'encoding_format') ?? 'float'
  if (format !== 'float' && format !== 'base64')
    throw GatewayError.invalid('encoding_format', '`encoding_format` must be `float` or `base64`.')
  const dimensions = numberField(json, 'dimensions')
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0))
    throw GatewayError.invalid('dimensions', '`dimensions` must be a whole number above 0.')
  const user = textField(json, 'user')
  const inputType = textField(json, 'input_type')
  const model = modelOf(json)
  const { input, single } = inputOf(json.input)
  const request: EmbeddingsRequest = {
    caller: 'openai',
    model,
    input,
    single,
    encoding: format,
    extra: others(json, KNOWN) ?? {},
  }
  if (dimensions !== undefined) request.dimensions = dimensions
  if (user !== undefined) request.user = user
  if (inputType !== undefined) request.inputType = inputType
  return request
}

/** @throws GatewayError 400 for `model`. */
export function modelOf(json: { readonly [key: string]: unknown }): string {
  const { model } = json
  if (typeof model === 'string' && model !== '') return model
  const absent = model === undefined || model === null
  throw GatewayError.invalid('model', absent ? '`model` is required.' : '`model` must be a non-empty string.')
}

function inputOf(input: Json | undefined): Pick<EmbeddingsRequest, 'input' | 'single'> {
  if (input === undefined || input === null) throw GatewayError.invalid('input', '`input` is required.')
  if (typeof input === 'string') return { input: [filled(input)], single: true }
  if (!Array.isArray(input) || input.length === 0)
    throw GatewayError.invalid('input', '`input` must be a string, a list of strings, or lists of tokens, and not empty.')
  if (input.every((one) => typeof one === 'string')) return { input: input.map(filled), single: false }
  if (isTokens(input)) return { input: [input], single: true }
  if (input.every((one) => Array.isArray(one) && one.length > 0 && isTokens(one)))
    return { input: input as number[][], single: false }
  throw GatewayError.invalid('input', '`input` must contain only strings, or only lists of whole numbers.')
}

function filled(text: string): string {
  if (text === '') throw GatewayError.invalid('input', '`input` must not contain an empty string.')
  return text
}

function isTokens(list: readonly Json[]): list is number[] {
  return list.every((token) => typeof token === 'number' && isTokenCount(token))
}

export function encodeEmbeddings(
  { vectors, model, usage }: Frozen<EmbeddingsAnswer>,
  request: Frozen<EmbeddingsRequest>,
): EncodedAnswer {
  if (request.caller !== 'openai') return encodeForGoogle(vectors, usage, request)
  const { encoding } = request
  const data = vectors.map((vector, index) => ({ object: 'embedding', index, embedding: inEncoding(vector, encoding) }))
  const counts = { prompt_tokens: usage.inputTotal, total_tokens: usage.total }
  return { contentType: JSON_TYPE, body: JSON.stringify({ object: 'list', data, model, usage: counts }) }
}

/** Token lists have no texts. */
export const embeddingTexts: TextsOf<EmbeddingsRequest> = {
  read: ({ input }) => input.filter((one): one is string => typeof one === 'string'),
  replace(request, texts) {
    const left = [...texts]
    const input = request.input.map((one) => (typeof one === 'string' ? (left.shift() as string) : [...one]))
    return { ...(request as EmbeddingsRequest), input: input as EmbeddingsRequest['input'] }
  },
}
