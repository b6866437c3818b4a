// Images of Google's API: `generateContent` with images as output, and `:predict` of the Imagen models.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { bytesToBase64, concatBytes } from '../../../core/text/bytes.ts'
import type { Frozen, JsonObject } from '../../../core/types/canonical.ts'
import type { OperationCodec, OperationUpstream } from '../../../core/types/operation.ts'
import type { ImagesAnswer, ImagesRequest } from '../../../core/types/operations.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { usageIn } from './openai.ts'
import { ratioOf } from './sizes.ts'

export const googleImages: OperationCodec<'images'> = async (request, upstream) => {
  if (request.task === 'vary') throw GatewayError.unsupported('image', 'This model makes no variations.')
  if (request.stream) upstream.codec.warn('partial_images_unsupported')
  const isImagen = upstream.model.startsWith('imagen')
  if (isImagen && request.task === 'edit') throw GatewayError.unsupported('image', 'This model edits no images.')
  const images = isImagen ? await predicted(request, upstream) : await generated(request, upstream)
  if (images.length === 0) throw GatewayError.upstream(400, 'The model made no image: its filters may have refused the prompt.')
  const usage = usageIn(undefined, request, images.length)
  const created = Math.floor(upstream.codec.now() / 1000)
  return { usage, answer: () => ({ model: upstream.model, usage, created, images, extra: {} }) }
}

function ratio({ size }: Frozen<ImagesRequest>, { codec }: OperationUpstream): string | undefined {
  const found = ratioOf(size)
  if (found?.exact === false) codec.warn('aspect_ratio_approximated')
  return found?.ratio
}

async function predicted(request: Frozen<ImagesRequest>, upstream: OperationUpstream): Promise<ImagesAnswer['images']> {
  const aspectRatio = ratio(request, upstream)
  const parameters = { ...(request.extra as JsonObject), sampleCount: request.count, ...(aspectRatio ? { aspectRatio } : {}) }
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
async function generated(request: Frozen<ImagesRequest>, upstream: OperationUpstream): Promise<ImagesAnswer['images']> {
  const aspectRatio = ratio(request, upstream)
  const sources = request.images.map(({ type, chunks }) => ({
    inlineData: { mimeType: type || 'image/png', data: bytesToBase64(concatBytes(chunks)) },
  }))
  const body = {
    contents: [{ role: 'user', parts: [...sources, { text: request.prompt }] }],
    generationConfig: { responseModalities: ['TEXT', 'IMAGE'], ...(aspectRatio ? { imageConfig: { aspectRatio } } : {}) },
  }
  const images: ImagesAnswer['images'] = []
  for (let made = 0; made < request.count; made++) {
    const json = parsed(await upstream.send({ path: `/v1beta/models/${upstream.segment}:generateContent`, body }))
    images.push(...inlineImages(json))
  }
  return images
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
