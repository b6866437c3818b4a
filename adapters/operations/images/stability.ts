// Images of Stability AI: a form in, one image as base64 out.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { FormBody, OperationCodec } from '../../../core/types/operations/operation.ts'
import type { ImagesAnswer } from '../../../core/types/operations/operations.ts'
import { loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { fieldsOf } from '../shared/form-fields.ts'
import { usageIn } from './openai.ts'
import { vendorMembers } from './own-members.ts'
import { RATIOS, ratioFor } from './sizes.ts'

/** Models of the route `sd3`; the others have a route of their own name. */
const SD3 = /^sd3/

export const stabilityImages: OperationCodec<'images'> = async (request, upstream) => {
  if (request.task !== 'generate') throw GatewayError.unsupported('image', 'Edits and variations are not served for this model.')
  const { model, codec } = upstream
  const members = vendorMembers(request, codec, ['output_format'])
  const ratio = ratioFor(request.size, RATIOS.stability, codec)
  const fields: (readonly [string, string])[] = [
    ['prompt', request.prompt],
    ...(ratio === undefined ? [] : [['aspect_ratio', ratio] as const]),
    ...(SD3.test(model) ? [['model', model] as const] : []),
    ...fieldsOf(members),
  ]
  const body: FormBody = { fields, files: [] }
  const images: ImagesAnswer['images'] = []
  for (let made = 0; made < request.count; made++) {
    const route = SD3.test(model) ? 'sd3' : upstream.segment
    const json = parsed(await upstream.send({ path: `/v2beta/stable-image/generate/${route}`, body }))
    if (json.finish_reason === 'CONTENT_FILTERED')
      throw GatewayError.upstream(400, 'The vendor refused the image: content filtered.')
    const base64 = loose(json.image)
    if (base64 === '') throw missing('image')
    images.push({ base64, mime: 'image/png' })
    upstream.charged(usageIn(undefined, request, images.length))
  }
  const usage = usageIn(undefined, request, images.length)
  const created = Math.floor(upstream.codec.now() / 1000)
  return { usage, answer: () => ({ model, usage, created, images, extra: {} }) }
}
