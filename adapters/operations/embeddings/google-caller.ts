// The caller's side of embeddings in Google's format: `embedContent` for one text, `batchEmbedContents` for several.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, OperationRoute } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsAnswer, EmbeddingsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, listField, numberField, objectField, others, textField } from '../../dialects/shared/fields.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { inEncoding } from './vectors.ts'

const KNOWN = new Set(['model', 'content', 'taskType', 'outputDimensionality'])
const TYPES: Readonly<Record<string, string>> = { RETRIEVAL_QUERY: 'query', RETRIEVAL_DOCUMENT: 'document' }

/** @throws GatewayError 400 with `param`. */
export const decodeEmbedContent: OperationRoute<'embeddings'>['decode'] = (body, { model = '' }) => {
  const json = body.json() as JsonObject
  return { caller: 'google', model, input: [textIn(json, '')], single: true, encoding: 'float', ...optionsOf(json, '') }
}

/** The options of the first text apply to all: they are one call here. @throws GatewayError 400 with `param`. */
export const decodeBatchEmbed: OperationRoute<'embeddings'>['decode'] = (body: WireBody, { model = '' }) => {
  const list = listField(body.json() as JsonObject, 'requests')
  if (list === undefined || list.length === 0) throw GatewayError.invalid('requests', '`requests` must be a list, and not empty.')
  const requests = list.map((one, index) => {
    if (isObject(one)) return one
    throw GatewayError.invalid(`requests[${index}]`, `\`requests[${index}]\` must be an object.`)
  })
  const input = requests.map((one, index) => textIn(one, `requests[${index}].`))
  const [first, ...rest] = requests.map((one, index) => optionsOf(one, `requests[${index}].`))
  const differs = rest.findIndex((one) => JSON.stringify(one) !== JSON.stringify(first))
  if (differs !== -1)
    throw GatewayError.invalid(
      `requests[${differs + 1}]`,
      `\`requests[${differs + 1}]\` has other options than the first one. Send it in another call.`,
    )
  return { caller: 'google_batch', model, input, single: false, encoding: 'float', ...(first as NonNullable<typeof first>) }
}

function optionsOf(json: JsonObject, at: string): Pick<EmbeddingsRequest, 'dimensions' | 'inputType' | 'extra'> {
  const dimensions = numberField(json, 'outputDimensionality', `${at}outputDimensionality`)
  if (dimensions !== undefined && !(Number.isInteger(dimensions) && dimensions > 0))
    throw GatewayError.invalid(`${at}outputDimensionality`, `\`${at}outputDimensionality\` must be a whole number above 0.`)
  const task = textField(json, 'taskType', `${at}taskType`)
  return {
    ...(dimensions === undefined ? {} : { dimensions }),
    ...(task === undefined ? {} : { inputType: TYPES[task] ?? task }),
    extra: others(json, KNOWN) ?? {},
  }
}

function textIn(json: JsonObject, at: string): string {
  const content = objectField(json, 'content', `${at}content`)
  const parts = content === undefined ? undefined : listField(content, 'parts', `${at}content.parts`)
  const texts = (parts ?? []).map((part: Json) => (isObject(part) && typeof part.text === 'string' ? part.text : null))
  if (texts.length === 0 || texts.includes(null) || texts.join('') === '')
    throw GatewayError.invalid(`${at}content`, `\`${at}content\` must have \`parts\` with \`text\`, and not be empty.`)
  return texts.join('')
}

export function encodeForGoogle(
  vectors: Frozen<EmbeddingsAnswer>['vectors'],
  usage: Frozen<EmbeddingsAnswer>['usage'],
  { caller }: Frozen<EmbeddingsRequest>,
): EncodedAnswer {
  const embeddings = vectors.map((vector) => ({ values: inEncoding(vector, 'float') }))
  const usageMetadata = { promptTokenCount: usage.inputTotal, totalTokenCount: usage.total }
  const body = caller === 'google' ? { embedding: embeddings[0], usageMetadata } : { embeddings, usageMetadata }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}
