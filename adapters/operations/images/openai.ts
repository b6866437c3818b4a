// Images at OpenAI-like vendors: JSON for generations, forms for edits and variations, SSE for partial images.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type {
  OperationCodec,
  OperationReply,
  OperationUpstream,
  UpstreamAnswer,
} from '../../../core/types/operations/operation.ts'
import type { ImagesAnswer, ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject, loose } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, missing, parsed } from '../shared/answers.ts'
import { passedEvents } from '../shared/events.ts'
import { begun, wholeOf } from '../shared/frames.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'
import { imageEvents } from './events.ts'
import { callOf, type ImagesForm } from './openai-request.ts'

export function openaiImages(form: ImagesForm = {}): OperationCodec<'images'> {
  return async (request, upstream) => {
    const call = callOf(request, upstream, form)
    if (request.stream && !upstream.whole) return streamed(request, upstream, call, form)
    return whole(request, upstream, await upstream.send(call), form)
  }
}

function whole(
  request: Frozen<ImagesRequest>,
  upstream: OperationUpstream,
  answer: UpstreamAnswer,
  form: ImagesForm,
): OperationReply<ImagesAnswer> {
  const json = parsed(answer)
  const images = imagesIn(json[form.list ?? 'data'] ?? json.data)
  const usage = usageIn(json.usage, request, images.length, json)
  const asAsked = form.list === undefined && !request.stream && images.every((image) => hasFormat(image, request.format))
  return {
    usage,
    answer: () => ({ model: upstream.model, usage, created: createdAt(json, upstream), images, extra: extraOf(json) }),
    ...(asAsked ? { wire: { contentType: JSON_TYPE, body: answer.bytes } } : {}),
  }
}

async function streamed(
  request: Frozen<ImagesRequest>,
  upstream: OperationUpstream,
  call: ReturnType<typeof callOf>,
  form: ImagesForm,
): Promise<OperationReply<ImagesAnswer>> {
  const answer = await upstream.stream({ ...call, accept: 'text/event-stream' })
  // Some vendors ignore `stream`.
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
    return whole(request, upstream, await wholeOf(answer), form)
  const events = imageEvents()
  const usage = usageIn(undefined, request, request.count)
  const answered = { model: upstream.model, usage, created: Math.floor(upstream.codec.now() / 1000), images: [], extra: {} }
  // A caller who leaves after the partial images has what it asked for, and the vendor bills it.
  const billed = () => events.completed() || (events.failed() ? 0 : request.count)
  return {
    usage,
    answer: () => answered,
    stream: {
      contentType: 'text/event-stream; charset=utf-8',
      source: passedEvents(await begun(answer), events.seen),
      usage: () => usageIn(events.usage(), request, billed(), events.made()),
    },
  }
}

export function hasFormat(
  { url, base64 }: Frozen<ImagesAnswer['images'][number]>,
  format: Frozen<ImagesRequest>['format'],
): boolean {
  if (format === undefined) return true
  return (format === 'url' ? url : base64) !== undefined
}

/** @throws GatewayError 502 when there is no image. */
function imagesIn(list: Json | undefined): ImagesAnswer['images'] {
  if (!Array.isArray(list) || list.length === 0) throw missing('data')
  return list.map((entry) => {
    const { url, b64_json: base64, revised_prompt: revised } = isObject(entry) ? entry : {}
    const image = {
      ...(typeof url === 'string' ? { url } : {}),
      ...(typeof base64 === 'string' ? { base64 } : {}),
      ...(typeof revised === 'string' ? { revisedPrompt: revised } : {}),
    }
    if (image.url === undefined && image.base64 === undefined)
      throw GatewayError.protocol('The upstream answered with an image that has neither a URL nor data.')
    return image
  })
}

/** The price depends on the size and the quality of the images that were made: `auto` is resolved by the vendor. */
export function usageIn(
  wire: Json | undefined,
  request: Frozen<ImagesRequest>,
  images: number,
  made: JsonObject = {},
): ImagesAnswer['usage'] {
  const size = loose(made.size) || request.size
  const quality = loose(made.quality) || request.quality
  const units = { images, ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) }
  return reportedUsage(wire, units) ?? usageOf({ units })
}

function createdAt({ created }: JsonObject, { codec }: OperationUpstream): number {
  const isTime = typeof created === 'number' && Number.isSafeInteger(created) && created >= 0
  return isTime ? created : Math.floor(codec.now() / 1000)
}

/** Members of newer models that callers know: `background`, `output_format`, `quality`, `size`. */
function extraOf(json: JsonObject): JsonObject {
  const { created: _created, data: _data, images: _images, usage: _usage, ...extra } = json
  return extra
}
