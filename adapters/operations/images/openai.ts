// Images at OpenAI-like vendors: JSON for generations, forms for edits and variations, SSE for partial images.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { wireBody } from '../../../core/json/wire-body.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/canonical.ts'
import type {
  FormBody,
  OperationCodec,
  OperationReply,
  OperationUpstream,
  UpstreamAnswer,
  UpstreamRequest,
} from '../../../core/types/operation.ts'
import type { ImagesAnswer, ImagesRequest } from '../../../core/types/operations.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, missing, parsed } from '../shared/answers.ts'
import { begun, collected, passedOn, tail } from '../shared/frames.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'
import { ratioOf } from './sizes.ts'

/** How an OpenAI-like vendor differs. */
export interface ImagesForm {
  /** True: it takes `aspect_ratio` and no `size`. */
  ratio?: boolean
  /** Its name for the list of images. */
  list?: 'data' | 'images'
  /** Its name for `size`. */
  size?: string
  /** Its name for `n`. */
  count?: string
}

const PATHS = { generate: '/images/generations', edit: '/images/edits', vary: '/images/variations' } as const
/** These models answer base64 always, and refuse the members. */
const GPT_IMAGE = /(?:^|\/)(?:chatgpt|gpt)-image/

export function openaiImages(form: ImagesForm = {}): OperationCodec<'images'> {
  return async (request, upstream) => {
    const streams = request.stream && !upstream.whole
    const call = callOf({ ...request, stream: streams }, upstream, form)
    if (streams) return streamed(request, upstream, call, form)
    const answer = await upstream.send(call)
    return whole(request, upstream, answer, form)
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
  const usage = usageIn(json.usage, request, images.length)
  const asAsked =
    form.list === undefined && !request.stream && (request.format !== 'url' || images.every(({ url }) => url !== undefined))
  return {
    usage,
    answer: () => ({ model: upstream.model, usage, created: createdAt(json, upstream), images, extra: extraOf(json) }),
    ...(asAsked ? { wire: { contentType: JSON_TYPE, body: answer.bytes } } : {}),
  }
}

async function streamed(
  request: Frozen<ImagesRequest>,
  upstream: OperationUpstream,
  call: UpstreamRequest,
  form: ImagesForm,
): Promise<OperationReply<ImagesAnswer>> {
  const answer = await upstream.stream({ ...call, accept: 'text/event-stream' })
  const { status, headers, chunks } = answer
  // Some vendors ignore `stream`.
  if (!headers.get('content-type')?.startsWith('text/event-stream')) {
    const bytes = await collected(chunks)
    return whole(request, upstream, { status, headers, bytes, json: () => wireBody(bytes) }, form)
  }
  const end = tail()
  const usage = usageIn(undefined, request, request.count)
  const answered = { model: upstream.model, usage, created: Math.floor(upstream.codec.now() / 1000), images: [], extra: {} }
  return {
    usage,
    answer: () => answered,
    stream: {
      contentType: 'text/event-stream; charset=utf-8',
      source: passedOn(await begun(answer), true, end.seen),
      usage: () => usageIn(end.last()?.usage, request, request.count),
    },
  }
}

function callOf(request: Frozen<ImagesRequest>, upstream: OperationUpstream, form: ImagesForm): UpstreamRequest {
  const { task, images, mask } = request
  const fields = fieldsOf(request, upstream, form)
  const path = PATHS[task]
  if (task === 'generate') return { path, body: fields }
  const body: FormBody = {
    fields: Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
    files: [...images, ...(mask === null ? [] : [mask])],
  }
  return { path, body }
}

function fieldsOf(request: Frozen<ImagesRequest>, { model, codec }: OperationUpstream, form: ImagesForm): JsonObject {
  const { prompt, count, size, quality, format, stream, extra } = request
  const fixed = GPT_IMAGE.test(model)
  const { style, ...rest } = extra as JsonObject
  if (fixed && (style !== undefined || format !== undefined)) codec.warn('unsupported_image_fields')
  const ratio = form.ratio ? ratioOf(size) : null
  if (ratio?.exact === false) codec.warn('aspect_ratio_approximated')
  return {
    ...rest,
    ...(style === undefined || fixed ? {} : { style }),
    model,
    ...(prompt === '' ? {} : { prompt }),
    ...(count === 1 ? {} : { [form.count ?? 'n']: count }),
    ...(form.ratio
      ? ratio === null
        ? {}
        : { aspect_ratio: ratio.ratio }
      : size === undefined
        ? {}
        : { [form.size ?? 'size']: size }),
    ...(quality === undefined ? {} : { quality }),
    ...(format === undefined || fixed ? {} : { response_format: format }),
    ...(stream ? { stream } : {}),
  }
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

export function usageIn(wire: Json | undefined, { size, quality }: Frozen<ImagesRequest>, images: number): ImagesAnswer['usage'] {
  const units = { images, ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) }
  return reportedUsage(wire, units) ?? usageOf({ units })
}

export function createdAt({ created }: JsonObject, { codec }: OperationUpstream): number {
  return typeof created === 'number' ? created : Math.floor(codec.now() / 1000)
}

/** Members of newer models that callers know: `background`, `output_format`, `quality`, `size`. */
function extraOf(json: JsonObject): JsonObject {
  const { created: _created, data: _data, images: _images, usage: _usage, ...extra } = json
  return extra
}
