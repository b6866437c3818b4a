// POST /v1/embeddings.
import { z } from 'zod'
import { byteLength } from '../../../core/text/bytes.ts'
import type { OperationDriver, OperationRoute } from '../../../core/types/operations/operation.ts'
import { parseEmbed, parseEmbedMany, STEMS } from '../../dialects/generate-content/routes.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { decodeEmbeddings, embeddingTexts, encodeEmbeddings } from './caller.ts'
import { cohereEmbeddings } from './cohere.ts'
import { googleEmbeddings } from './google.ts'
import { decodeBatchEmbed, decodeEmbedContent } from './google-caller.ts'
import { openaiEmbeddings } from './openai.ts'

const token = z.int().min(0).max(1_000_000_000)
const vector = z.union([z.array(z.number()), z.string()])

const content = z.looseObject({ parts: z.array(z.looseObject({ text: z.string() })).min(1) })
const one = z.looseObject({
  content,
  taskType: z.string().optional(),
  outputDimensionality: z.int().min(1).optional(),
})
const values = z.looseObject({ values: z.array(z.number()) })

/** Google's format, at the paths of generate-content. */
const googleRoutes = STEMS.flatMap((stem): OperationRoute<'embeddings'>[] => [
  {
    path: `${stem}*`,
    template: `${stem}{model}:embedContent`,
    parse: parseEmbed,
    bodyLimit: 'default',
    models: 'concrete',
    summary: 'The vector of a text, in the format of Google.',
    decode: decodeEmbedContent,
    body: one,
    response: z.looseObject({ embedding: values }),
  },
  {
    path: `${stem}*`,
    template: `${stem}{model}:batchEmbedContents`,
    parse: parseEmbedMany,
    bodyLimit: 'default',
    models: 'concrete',
    summary: 'Vectors of texts, in the format of Google.',
    decode: decodeBatchEmbed,
    body: z.looseObject({ requests: z.array(one).min(1) }),
    response: z.looseObject({ embeddings: z.array(values) }),
  },
])

export const embeddings: OperationDriver<'embeddings'> = {
  id: 'embeddings',
  connections: 'all',
  routes: [
    {
      path: '/v1/embeddings',
      bodyLimit: 'json',
      models: 'concrete',
      summary: 'Vectors of texts, in the format of OpenAI.',
      decode: decodeEmbeddings,
      body: z.looseObject({
        model: z.string(),
        input: z.union([
          z.string().min(1),
          z.array(z.string().min(1)).min(1),
          z.array(token).min(1),
          z.array(z.array(token).min(1)).min(1),
        ]),
        encoding_format: z.enum(['float', 'base64']).optional(),
        dimensions: z.int().min(1).optional(),
        input_type: z.string().optional().describe('`query`, `document` or the vendor’s own word.'),
      }),
      response: z.looseObject({
        object: z.literal('list'),
        data: z.array(z.looseObject({ index: z.int(), embedding: vector })),
        model: z.string(),
        usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }),
      }),
    },
    ...googleRoutes,
  ],
  input: embeddingTexts,
  output: NO_TEXTS as OperationDriver<'embeddings'>['output'],
  tokensIn: ({ input }) => (input.some((one) => typeof one !== 'string') ? 'input' : null),
  // No tokenizer makes more tokens than a text has bytes; two bytes each is the bound of chat requests, too.
  estimate: ({ input }) => ({
    inputTokens: input.reduce((sum, one) => sum + (typeof one === 'string' ? Math.ceil(byteLength(one) / 2) : one.length), 0),
  }),
  encode: encodeEmbeddings,
  codecs: {
    openai: openaiEmbeddings(),
    mistral: openaiEmbeddings({ dimensions: 'output_dimension', base64: false }),
    voyage: openaiEmbeddings({
      dimensions: 'output_dimension',
      inputType: 'input_type',
      inputTypes: { search_query: 'query', search_document: 'document' },
    }),
    jina: openaiEmbeddings({
      inputType: 'task',
      inputTypes: { query: 'retrieval.query', document: 'retrieval.passage' },
      base64: false,
    }),
    nvidia: openaiEmbeddings({ inputType: 'input_type', defaultInputType: 'query', inputTypes: { document: 'passage' } }),
    cohere: cohereEmbeddings,
    google: googleEmbeddings,
  },
}
