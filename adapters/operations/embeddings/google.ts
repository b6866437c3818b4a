// Embeddings of Google's API: one call for one text, a batch call for more. It reports no tokens.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { listOf, parsed } from '../shared/answers.ts'
import { estimatedUsage, reportedUsage } from '../shared/usage.ts'
import { onlyTexts } from './cohere.ts'
import { isVector, textsOf } from './openai.ts'

export const TASKS: Readonly<Record<string, string>> = {
  query: 'RETRIEVAL_QUERY',
  search_query: 'RETRIEVAL_QUERY',
  document: 'RETRIEVAL_DOCUMENT',
  search_document: 'RETRIEVAL_DOCUMENT',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

export const googleEmbeddings: OperationCodec<'embeddings'> = async (request, upstream) => {
  const texts = onlyTexts(request)
  const one = (text: string): JsonObject => ({
    ...(request.extra as JsonObject),
    content: { parts: [{ text }] },
    ...options(request),
  })
  const model = `/v1beta/models/${upstream.segment}`
  const single = texts.length === 1
  const json = parsed(
    single
      ? await upstream.send({ path: `${model}:embedContent`, body: one(texts[0] as string) })
      : await upstream.send({
          path: `${model}:batchEmbedContents`,
          body: { requests: texts.map((text) => ({ model: `models/${upstream.model}`, ...one(text) })) },
        }),
  )
  const list = single ? [json.embedding] : listOf(json.embeddings, texts.length, 'embeddings')
  const vectors = list.map((entry) => {
    const values = isObject(entry) ? entry.values : undefined
    if (isVector(values)) return values
    throw GatewayError.protocol('The upstream answered with an embedding without values.')
  })
  const counted = isObject(json.usageMetadata) ? { prompt_tokens: json.usageMetadata.promptTokenCount ?? null } : undefined
  const usage = reportedUsage(counted) ?? estimatedUsage(textsOf(request))
  return { usage, answer: () => ({ model: upstream.model, vectors, usage }) }
}

function options({ inputType, dimensions }: Frozen<EmbeddingsRequest>): JsonObject {
  const task = inputType === undefined ? undefined : (TASKS[inputType] ?? inputType)
  return {
    ...(task === undefined ? {} : { taskType: task }),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  }
}
