// The caller's side of rerank: the format of Cohere and Jina.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { RerankAnswer, RerankRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { booleanField, isObject, numberField, others, textField } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'

const KNOWN = new Set(['model', 'query', 'documents', 'top_n', 'return_documents', 'max_tokens_per_doc'])

/** @throws GatewayError 400 with `param`. */
export function decodeRerank(body: WireBody): RerankRequest {
  const json = body.json() as JsonObject
  const query = textField(json, 'query')
  if (query === undefined || query === '') throw GatewayError.invalid('query', '`query` is required.')
  const topN = wholeNumber(json, 'top_n')
  const most = wholeNumber(json, 'max_tokens_per_doc')
  return {
    model: modelOf(json),
    query,
    documents: documentsOf(json.documents),
    ...(topN === undefined ? {} : { topN }),
    returnDocuments: booleanField(json, 'return_documents') ?? false,
    ...(most === undefined ? {} : { maxTokensPerDocument: most }),
    extra: others(json, KNOWN) ?? {},
  }
}

export function wholeNumber(json: JsonObject, name: string): number | undefined {
  const value = numberField(json, name)
  if (value === undefined || (Number.isInteger(value) && value >= 1)) return value
  throw GatewayError.invalid(name, `\`${name}\` must be a whole number of at least 1.`)
}

function documentsOf(documents: Json | undefined): RerankRequest['documents'] {
  if (!Array.isArray(documents) || documents.length === 0)
    throw GatewayError.invalid('documents', '`documents` must be a list of strings or of `{ text }`, and not empty.')
  return documents.map((document, index) => {
    if (typeof document === 'string') return { text: document }
    if (isObject(document) && typeof document.text === 'string') return { text: document.text, fields: document }
    throw GatewayError.invalid(`documents.${index}`, `\`documents.${index}\` must be a string or an object with \`text\`.`)
  })
}

export function encodeRerank(
  { id, model, results, meta, usage }: Frozen<RerankAnswer>,
  { documents, returnDocuments, topN }: Frozen<RerankRequest>,
): EncodedAnswer {
  const listed = results.slice(0, topN).map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(returnDocuments ? { document: documents[index]?.fields ?? { text: documents[index]?.text ?? '' } } : {}),
  }))
  const units = usage.units?.queries
  const billed = units === undefined ? {} : { billed_units: { search_units: units } }
  const counts = { prompt_tokens: usage.inputTotal, total_tokens: usage.total }
  const body = { id, object: 'list', model, results: listed, meta: { ...billed, ...meta }, usage: counts }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}

export const rerankTexts: TextsOf<RerankRequest> = {
  read: ({ query, documents }) => [query, ...documents.map(({ text }) => text)],
  replace: (request, [query = '', ...texts]) => ({
    ...(request as RerankRequest),
    query,
    documents: request.documents.map(({ fields }, index) => {
      const text = texts[index] as string
      return fields === undefined ? { text } : { text, fields: { ...(fields as JsonObject), text } }
    }),
  }),
}
