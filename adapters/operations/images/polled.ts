// Images of Black Forest Labs: a job that is polled until it is ready.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { bytesToBase64, concatBytes } from '../../../core/text/bytes.ts'
import type { OperationCodec, OperationUpstream } from '../../../core/types/operations/operation.ts'
import type { ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { missing, parsed } from '../shared/answers.ts'
import { usageIn } from './openai.ts'
import { vendorMembers } from './own-members.ts'
import { pixelsOf, RATIOS, ratioFor } from './sizes.ts'

/** Models that take `aspect_ratio` in place of `width` and `height`. */
const BY_RATIO = /ultra|kontext/
const POLL_MS = 500
/** The longest wait for one image, ms. */
const LONGEST_MS = 300_000

export const bflImages: OperationCodec<'images'> = async (request, upstream) => {
  if (request.task === 'vary') throw GatewayError.unsupported('image', 'This model makes no variations.')
  const members = vendorMembers(request, upstream.codec, ['output_format'])
  const sources = request.images.map(({ chunks }) => bytesToBase64(concatBytes(chunks)))
  const body: JsonObject = {
    ...members,
    prompt: request.prompt,
    ...sizeOf(request, upstream),
    ...Object.fromEntries(sources.map((data, at) => [at === 0 ? 'input_image' : `input_image_${at + 1}`, data])),
  }
  const urls: string[] = []
  for (let made = 0; made < request.count; made++) {
    urls.push(await jobResult(upstream, body))
    upstream.charged(usageIn(undefined, request, urls.length))
  }
  const usage = usageIn(undefined, request, urls.length)
  const created = Math.floor(upstream.codec.now() / 1000)
  return { usage, answer: () => ({ model: upstream.model, usage, created, images: urls.map((url) => ({ url })), extra: {} }) }
}

function sizeOf({ size }: Frozen<ImagesRequest>, { model, codec }: OperationUpstream): JsonObject {
  if (!BY_RATIO.test(model)) return { ...pixelsOf(size) }
  const ratio = ratioFor(size, RATIOS.bfl, codec)
  return ratio === undefined ? {} : { aspect_ratio: ratio }
}

async function jobResult(upstream: OperationUpstream, body: JsonObject): Promise<string> {
  const started = parsed(await upstream.send({ path: `/${upstream.model}`, body }))
  const url = loose(started.polling_url)
  if (url === '' || !URL.canParse(url)) throw missing('polling_url')
  for (;;) {
    const { status, result } = parsed(await upstream.send({ method: 'GET', url }))
    if (status === 'Ready') {
      const sample = isObject(result) ? loose(result.sample) : ''
      if (sample === '') throw missing('result.sample')
      return sample
    }
    if (status === 'Request Moderated' || status === 'Content Moderated')
      throw GatewayError.upstream(400, `The vendor refused the image: ${status}.`)
    if (status !== 'Pending' && status !== 'Queued' && status !== 'Processing')
      throw GatewayError.upstream(502, `The vendor could not make the image: ${loose(status) || 'no status'}.`)
    if (upstream.elapsed() > LONGEST_MS) throw GatewayError.timeout(`The image was not ready after ${LONGEST_MS / 1000} s.`)
    await upstream.sleep(POLL_MS)
  }
}
