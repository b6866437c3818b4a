// Images of Google's API: `generateContent` with images as output, and `:predict` of the Imagen models.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { tokenCount } from '../../../core/models/token-count.ts'
import { bytesToBase64, concatBytes } from '../../../core/text/bytes.ts'
import type { OperationCodec, OperationUpstream } from '../../../core/types/operations/operation.ts'
import type { ImagesAnswer, ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { blockReason } from '../shared/google.ts'
import { usageIn } from './openai.ts'
import { vendorMembers } from './own-members.ts'
import { RATIOS, ratioFor } from './sizes.ts'

export const googleImages: OperationCodec<'images'> = async (request, upstream) => {
  if (request.task === 'vary') throw GatewayError.unsupported('image', 'This model makes no variations.')
  const isImagen = upstream.model.startsWith('imagen')
  if (isImagen && request.task === 'edit') throw GatewayError.unsupported('image', 'This model edits no images.')
  const members = vendorMembers(request, upstream.codec)
  const { images, usage: counted } = isImagen
    ? { images: await predicted(request, upstream, members), usage: undefined }
    : await generated(request, upstream, members)
  if (images.length === 0) throw GatewayError.upstream(400, 'The model made no image: its filters may have refused the prompt.')
  const usage = usageIn(counted, request, images.length)
  const created = Math.floor(upstream.codec.now() / 1000)
  return { usage, answer: () => ({ model: upstream.model, usage, created, images, extra: {} }) }
}

async function predicted(
  request: Frozen<ImagesRequest>,
  upstream: OperationUpstream,
  members: JsonObject,
): Promise<ImagesAnswer['images']> {
  const aspectRatio = ratioFor(request.size, RATIOS.imagen, upstream.codec)
  const parameters = { ...members, sampleCount: request.count, ...(aspectRatio ? { aspectRatio } : {}) }
  const body = { instances: [{ prompt: request.prompt }], parameters }
  const { predictions } = parsed(await upstream.send({ path: `/v1beta/models/${upstream.segment}:predict`, body }))
  if (predictions !== undefined && !Array.isArray(predictions)) throw missing('predictions')
  return (predictions ?? [])
    .filter(isObject)
    .flatMap(({ bytesBase64Encoded: base64, mimeType }) =>
      typeof base64 === 'string' ? [{ base64, mime: loose(mimeType) || 'image/png' }] : [],
    )
}

/** The model makes one image per call. */
async function generated(
  request: Frozen<ImagesRequest>,
  upstream: OperationUpstream,
  members: JsonObject,
): Promise<{ images: ImagesAnswer['images']; usage: JsonObject | undefined }> {
  const aspectRatio = ratioFor(request.size, RATIOS.gemini, upstream.codec)
  const sources = request.images.map(({ type, chunks }) => ({
    inlineData: { mimeType: type || 'image/png', data: bytesToBase64(concatBytes(chunks)) },
  }))
  const body = {
    contents: [{ role: 'user', parts: [...sources, { text: request.prompt }] }],
    generationConfig: {
      ...members,
      responseModalities: ['TEXT', 'IMAGE'],
      ...(aspectRatio ? { imageConfig: { aspectRatio } } : {}),
    },
  }
  const images: ImagesAnswer['images'] = []
  let usage: JsonObject | undefined
  for (let made = 0; made < request.count; made++) {
    const json = parsed(await upstream.send({ path: `/v1beta/models/${upstream.segment}:generateContent`, body }))
    const refused = blockReason(json)
    if (refused !== '' && images.length === 0) throw GatewayError.upstream(400, `The vendor refused the prompt: ${refused}.`)
    if (refused === '') images.push(...inlineImages(json))
    usage = added(usage, json.usageMetadata)
    upstream.charged(usageIn(usage, request, images.length))
  }
  return { images, usage }
}

/** Returns the tokens of all calls in OpenAI's names; thoughts are billed as output. */
function added(sum: JsonObject | undefined, usage: Json | undefined): JsonObject | undefined {
  if (!isObject(usage)) return sum
  const count = (value: Json | undefined): number => tokenCount(value) ?? 0
  return {
    input_tokens: count(sum?.input_tokens) + count(usage.promptTokenCount),
    output_tokens: count(sum?.output_tokens) + count(usage.candidatesTokenCount) + count(usage.thoughtsTokenCount),
  }
}

function inlineImages({ candidates }: JsonObject): ImagesAnswer['images'] {
  if (!Array.isArray(candidates)) throw missing('candidates')
  return candidates.filter(isObject).flatMap(({ content }) => {
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : []
    return parts
      .filter(isObject)
      .flatMap(({ inlineData }) =>
        isObject(inlineData) && typeof inlineData.data === 'string'
          ? [{ base64: inlineData.data, mime: loose(inlineData.mimeType) || 'image/png' }]
          : [],
      )
  })
}
