// Rerank at Cohere, and at the vendors that use Jina's or Voyage's form of it.
import { tokenCount } from '../../../core/models/token-count.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { RerankAnswer, RerankRequest } from '../../../core/types/operations/operations.ts'
import type { Usage } from '../../../core/types/request/answer.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { estimatedUsage, reportedUsage, usageOf } from '../shared/usage.ts'

interface RerankForm {
  path: string
  /** The vendor's name for `top_n`. */
  topN: 'top_n' | 'top_k'
  /** The member with the results. */
  results: 'results' | 'data'
  /** True: `documents` may only be strings. */
  textsOnly: boolean
}

/** The query and each document are read once: one search unit for up to 100 documents, as Cohere bills. */
const DOCUMENTS_PER_UNIT = 100

export function rerankAt(form: RerankForm): OperationCodec<'rerank'> {
  return async (request, upstream) => {
    const json = parsed(await upstream.send({ path: form.path, body: bodyOf(request, upstream.model, form) }))
    const list = json[form.results]
    if (!Array.isArray(list)) throw missing(form.results)
    const results = list.map((entry, at) => resultOf(entry, at, request.documents.length))
    results.sort((a, b) => b.score - a.score || a.index - b.index)
    const usage = usageIn(json, request)
    const id = typeof json.id === 'string' ? json.id : upstream.codec.id('rerank_')
    const model = typeof json.model === 'string' ? json.model : upstream.model
    const answer: RerankAnswer = { id, model, results, usage, ...(isObject(json.meta) ? { meta: json.meta } : {}) }
    return { usage, answer: () => answer }
  }
}

export const cohereRerank = rerankAt({ path: '/v2/rerank', topN: 'top_n', results: 'results', textsOnly: true })
export const jinaRerank = rerankAt({ path: '/rerank', topN: 'top_n', results: 'results', textsOnly: true })
export const voyageRerank = rerankAt({ path: '/rerank', topN: 'top_k', results: 'data', textsOnly: true })

function bodyOf(request: Frozen<RerankRequest>, model: string, { topN, textsOnly }: RerankForm): JsonObject {
  const { query, documents, topN: most, maxTokensPerDocument, extra } = request
  return {
    ...(extra as JsonObject),
    model,
    query,
    documents: documents.map(({ text, fields }) => (textsOnly || fields === undefined ? text : (fields as JsonObject))),
    ...(most === undefined ? {} : { [topN]: Math.min(most, documents.length) }),
    ...(maxTokensPerDocument === undefined ? {} : { max_tokens_per_doc: maxTokensPerDocument }),
  }
}

function resultOf(entry: Json, at: number, documents: number): RerankAnswer['results'][number] {
  const { index, relevance_score: score } = isObject(entry) ? entry : {}
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= documents)
    throw missing(`results.${at}.index`)
  if (typeof score !== 'number') throw missing(`results.${at}.relevance_score`)
  return { index, score }
}

function usageIn({ meta, usage }: JsonObject, { query, documents }: Frozen<RerankRequest>): Usage {
  const units = { queries: Math.ceil(documents.length / DOCUMENTS_PER_UNIT) }
  const billed = isObject(meta) && isObject(meta.billed_units) ? meta.billed_units : {}
  const queries = tokenCount(billed.search_units)
  const tokens = isObject(meta) && isObject(meta.tokens) ? meta.tokens : {}
  if (queries !== undefined) return usageOf({ input: tokenCount(tokens.input_tokens), units: { queries }, raw: meta ?? null })
  return reportedUsage(usage, units) ?? estimatedUsage([query, ...documents.map(({ text }) => text)], units)
}
