// Embeddings of OpenAI-like vendors. The answer passes through untouched when it has the encoding that the caller asked for.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { findStart } from '../../../core/json/json-path.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { EmbeddingsAnswer, EmbeddingsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, listOf, missing, refuseError, scanned } from '../shared/answers.ts'
import { estimatedUsage, reportedUsage } from '../shared/usage.ts'

/** How an OpenAI-like vendor differs. */
export interface EmbeddingsForm {
  path?: string
  /** The vendor's name for `dimensions`; default: the same. */
  dimensions?: string
  /** Its name for the kind of input; absent: it has none. */
  inputType?: string
  /** The kind that it demands when the caller gives none. */
  defaultInputType?: string
  /** Its word for a kind of input, when it differs. */
  inputTypes?: Readonly<Record<string, string>>
  /** False: it answers floats only. */
  base64?: boolean
}

export function openaiEmbeddings(form: EmbeddingsForm = {}): OperationCodec<'embeddings'> {
  return async (request, upstream) => {
    const own = request.caller === 'openai'
    const body = (own ? spliced(upstream.wire, upstream.model, request, form) : null) ?? bodyOf(request, upstream.model, form)
    const answer = await upstream.send({ path: form.path ?? '/embeddings', body })
    const wire = scanned(answer)
    const first = findStart(answer.bytes, 0, FIRST_VECTOR)
    if (first === null && wire.peek('data') === undefined) {
      refuseError(wire.get('error'))
      throw missing('data')
    }
    const usage = reportedUsage(wire.get('usage')) ?? estimatedUsage(textsOf(request))
    const read = () => decoded(wire.json(), request, usage, upstream.model)
    // The first byte of a vector shows its encoding: the vector itself is neither decoded nor copied.
    const asAsked = own && first !== null && (answer.bytes[first] === QUOTE) === (request.encoding === 'base64')
    return asAsked ? { usage, answer: read, wire: { contentType: JSON_TYPE, body: answer.bytes } } : { usage, answer: read }
  }
}

const FIRST_VECTOR = ['data', '0', 'embedding'] as const
const QUOTE = 0x22

/** Returns the caller's own body with the model replaced, when the vendor takes it as it is. */
function spliced(
  wire: WireBody | null,
  model: string,
  request: Frozen<EmbeddingsRequest>,
  { dimensions, inputType, defaultInputType, base64 = true }: EmbeddingsForm,
): WireBody | null {
  const renames = (request.dimensions !== undefined && dimensions !== undefined) || inputType !== undefined
  const drops = request.inputType !== undefined && inputType === undefined
  if (wire === null || renames || drops || defaultInputType !== undefined || (!base64 && request.encoding === 'base64'))
    return null
  wire.set('model', model)
  return wire
}

function bodyOf(
  { caller, input, single, encoding, dimensions, user, inputType, extra }: Frozen<EmbeddingsRequest>,
  model: string,
  form: EmbeddingsForm,
): JsonObject {
  const kind = inputType === undefined ? form.defaultInputType : (form.inputTypes?.[inputType] ?? inputType)
  return {
    // Members of another format mean nothing here.
    ...(caller === 'openai' ? (extra as JsonObject) : {}),
    model,
    input: (single ? input[0] : input) as Json,
    ...(encoding === 'base64' && form.base64 !== false ? { encoding_format: 'base64' } : {}),
    ...(dimensions === undefined ? {} : { [form.dimensions ?? 'dimensions']: dimensions }),
    ...(user === undefined ? {} : { user }),
    ...(kind === undefined || form.inputType === undefined ? {} : { [form.inputType]: kind }),
  }
}

/** @throws GatewayError 502 when vectors are missing. */
function decoded(
  json: Frozen<JsonObject>,
  request: Frozen<EmbeddingsRequest>,
  usage: EmbeddingsAnswer['usage'],
  model: string,
): EmbeddingsAnswer {
  const data = listOf(json.data as Json | undefined, request.input.length, 'data')
  const vectors: EmbeddingsAnswer['vectors'] = new Array(data.length)
  for (const [at, entry] of data.entries()) {
    if (!isObject(entry)) throw missing(`data.${at}`)
    const { index, embedding } = entry
    const place = typeof index === 'number' && index >= 0 && index < data.length ? index : at
    if (typeof embedding !== 'string' && !isVector(embedding)) throw missing(`data.${at}.embedding`)
    vectors[place] = embedding
  }
  if (vectors.includes(undefined as never)) throw GatewayError.protocol('The upstream answered with two vectors for one input.')
  return { model: typeof json.model === 'string' ? json.model : model, vectors, usage }
}

export function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'number')
}

export function textsOf({ input }: Frozen<EmbeddingsRequest>): string[] {
  return input.map((one) => (typeof one === 'string' ? one : 'x'.repeat(Math.ceil(one.length * 3.6))))
}
