// POST /v1/rerank.
import { z } from 'zod'
import { byteLength } from '../../../core/text/bytes.ts'
import type { OperationDriver } from '../../../core/types/operations/operation.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { decodeRerank, encodeRerank, rerankTexts } from './caller.ts'
import { cohereRerank, jinaRerank, voyageRerank } from './vendors.ts'

const score = z.looseObject({ index: z.int(), relevance_score: z.number(), document: z.looseObject({}).optional() })

const route = {
  bodyLimit: 'default',
  models: 'concrete',
  summary: 'Documents in the order of their relevance to a query, in the format of Cohere and Jina.',
  decode: decodeRerank,
  body: z.looseObject({
    model: z.string(),
    query: z.string().min(1),
    documents: z.array(z.union([z.string(), z.looseObject({ text: z.string() })])).min(1),
    top_n: z.int().min(1).optional(),
    return_documents: z.boolean().optional(),
  }),
  response: z.looseObject({ id: z.string(), results: z.array(score), meta: z.looseObject({}) }),
} as const

export const rerank: OperationDriver<'rerank'> = {
  id: 'rerank',
  connections: 'all',
  routes: [{ ...route, path: '/v1/rerank' }],
  input: rerankTexts,
  output: NO_TEXTS,
  estimate: (request) => ({
    inputTokens: rerankTexts.read(request).reduce((sum, text) => sum + Math.ceil(byteLength(text) / 2), 0),
    units: { queries: Math.ceil(request.documents.length / 100) },
  }),
  encode: encodeRerank,
  codecs: { openai: jinaRerank, jina: jinaRerank, cohere: cohereRerank, voyage: voyageRerank },
}
