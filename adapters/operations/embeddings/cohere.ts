// Embeddings of Cohere's API v2: at most 96 texts in one call, and a kind of input in each.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { listOf, missing, parsed } from '../shared/answers.ts'
import { estimatedUsage, usageOf } from '../shared/usage.ts'
import { isVector } from './openai.ts'

const MOST_TEXTS = 96
const INPUT_TYPES: Readonly<Record<string, string>> = { query: 'search_query', document: 'search_document' }

export const cohereEmbeddings: OperationCodec<'embeddings'> = async (request, upstream) => {
  const texts = onlyTexts(request)
  const vectors: number[][] = []
  let input: number | undefined = 0
  const usageTo = (end: number) => (input === undefined ? estimatedUsage(texts.slice(0, end)) : usageOf({ input }))
  for (let from = 0; from < texts.length; from += MOST_TEXTS) {
    const part = texts.slice(from, from + MOST_TEXTS)
    const json = parsed(await upstream.send({ path: '/v2/embed', body: bodyOf(request, part, upstream.model) }))
    const given = isObject(json.embeddings) ? json.embeddings.float : json.embeddings
    const floats = listOf(given, part.length, 'embeddings.float')
    if (!floats.every(isVector)) throw missing('embeddings.float')
    vectors.push(...floats)
    const billed = billedTokens(json)
    input = input === undefined || billed === undefined ? undefined : input + billed
    upstream.charged(usageTo(from + part.length))
  }
  const usage = usageTo(texts.length)
  return { usage, answer: () => ({ model: upstream.model, vectors, usage }) }
}

/** @throws GatewayError: tokens of another tokenizer mean nothing here; a candidate that takes them is tried. */
export function onlyTexts({ input }: Frozen<EmbeddingsRequest>): string[] {
  return input.map((one) => {
    if (typeof one === 'string') return one
    throw GatewayError.unsupported('input', 'This model takes texts, not lists of tokens.')
  })
}

function bodyOf({ caller, inputType, dimensions, extra }: Frozen<EmbeddingsRequest>, texts: string[], model: string): JsonObject {
  const kind = inputType ?? 'search_document'
  return {
    ...(caller === 'openai' ? (extra as JsonObject) : {}),
    model,
    texts,
    input_type: INPUT_TYPES[kind] ?? kind,
    embedding_types: ['float'],
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }
}

function billedTokens({ meta }: JsonObject): number | undefined {
  const units = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  return tokenCount(units.input_tokens)
}
