// POST /v1/ocr: documents as Markdown, in the format of Mistral.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import type { OperationCodec, OperationDriver } from '../../../core/types/operations/operation.ts'
import type { OcrAnswer, OcrRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, loose, others } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE, missing, parsed } from '../shared/answers.ts'
import { NO_TEXTS } from '../shared/texts.ts'
import { usageOf } from '../shared/usage.ts'

const DEFAULT_MODEL = 'mistral/mistral-ocr-latest'
const KNOWN = new Set(['model', 'document'])
/** The most pages that the vendor reads in one call. */
const MOST_PAGES = 1000

/** @throws GatewayError 400 with `param`. */
function decode(body: WireBody): OcrRequest {
  const json = body.json() as JsonObject
  const model = json.model === undefined || json.model === null ? DEFAULT_MODEL : modelOf(json)
  return { model, document: documentOf(json.document), extra: others(json, KNOWN) ?? {} }
}

function documentOf(document: JsonObject[string] | undefined): OcrRequest['document'] {
  if (document === undefined || document === null) throw GatewayError.invalid('document', '`document` is required.')
  const { type, document_url: url, image_url: image, file_id: file } = isObject(document) ? document : {}
  if (type === 'document_url' && typeof url === 'string') return { kind: 'document_url', url }
  const imageUrl = isObject(image) ? image.url : image
  if (type === 'image_url' && typeof imageUrl === 'string') return { kind: 'image_url', url: imageUrl }
  if (type === 'file' && typeof file === 'string') return { kind: 'file', id: file }
  throw GatewayError.invalid(
    'document',
    '`document` must be `{ "type": "document_url", "document_url" }`, `{ "type": "image_url", "image_url" }` or `{ "type": "file", "file_id" }`.',
  )
}

const mistral: OperationCodec<'ocr'> = async (request, upstream) => {
  const { wire } = upstream
  wire?.set('model', upstream.model)
  const { document, extra } = request
  const body = wire ?? { ...(extra as JsonObject), model: upstream.model, document: documentBody(document) }
  const reply = await upstream.send({ path: '/ocr', body })
  const json = parsed(reply)
  const { pages, usage_info: info } = json
  if (!Array.isArray(pages)) throw missing('pages')
  const counted = isObject(info) ? tokenCount(info.pages_processed) : undefined
  const usage = usageOf({ units: { pages: counted ?? pages.length }, raw: info ?? null })
  const answer = (): OcrAnswer => ({
    model: loose(json.model) || upstream.model,
    usage,
    pages: pages.filter(isObject).map(({ index, markdown, ...rest }, at) => ({
      index: tokenCount(index) ?? at,
      markdown: loose(markdown),
      extra: rest,
    })),
    documentBytes: isObject(info) ? (tokenCount(info.doc_size_bytes) ?? null) : null,
    extra: others(json, ANSWERED) ?? {},
  })
  return { usage, answer, wire: { contentType: JSON_TYPE, body: reply.bytes } }
}

const ANSWERED = new Set(['model', 'pages', 'usage_info'])

function documentBody(document: Frozen<OcrRequest['document']>): JsonObject {
  if (document.kind === 'file') return { type: 'file', file_id: document.id }
  return { type: document.kind, [document.kind]: document.url }
}

const document = z.union([
  z.looseObject({ type: z.literal('document_url'), document_url: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.union([z.string(), z.looseObject({ url: z.string() })]) }),
  z.looseObject({ type: z.literal('file'), file_id: z.string() }),
])

export const ocr: OperationDriver<'ocr'> = {
  id: 'ocr',
  connections: 'all',
  routes: [
    {
      path: '/v1/ocr',
      bodyLimit: 'default',
      models: 'concrete',
      modelOf: () => DEFAULT_MODEL,
      summary: `A document or image as Markdown pages, in the format of Mistral. \`model\` defaults to \`${DEFAULT_MODEL}\`.`,
      decode,
      body: z.looseObject({ model: z.string().optional(), document }),
      response: z.looseObject({ pages: z.array(z.looseObject({ index: z.int(), markdown: z.string() })) }),
    },
  ],
  input: NO_TEXTS,
  output: {
    read: ({ pages }) => pages.map(({ markdown }) => markdown),
    replace: (answer, texts) => ({
      ...(answer as OcrAnswer),
      pages: answer.pages.map((page, at) => ({ ...page, markdown: texts[at] as string }) as OcrAnswer['pages'][number]),
    }),
  },
  estimate: ({ extra }) =>
    Array.isArray(extra.pages) ? { units: { pages: extra.pages.length } } : { units: { pages: MOST_PAGES }, bounded: false },
  encode: ({ pages, model, documentBytes, usage, extra }) => ({
    contentType: JSON_TYPE,
    body: JSON.stringify({
      ...extra,
      pages: pages.map(({ index, markdown, extra: rest }) => ({ index, markdown, ...rest })),
      model,
      usage_info: { pages_processed: usage.units?.pages ?? pages.length, doc_size_bytes: documentBytes },
    }),
  }),
  codecs: { openai: mistral, mistral },
}
