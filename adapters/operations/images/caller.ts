// The caller's side of images: the formats of OpenAI's three routes.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, FormBody, TextsOf } from '../../../core/types/operations/operation.ts'
import type { ImagesAnswer, ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext, WireBody } from '../../../core/types/request/dialect.ts'
import { booleanField, numberField, others, textField } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'
import { formBoolean, formFile, formNumber, formText, otherFields } from '../shared/form-fields.ts'
import { hasFormat } from './openai.ts'

const KNOWN = new Set(['model', 'prompt', 'n', 'size', 'quality', 'response_format', 'stream', 'image', 'mask'])
const MOST_IMAGES = 10
const MOST_SOURCES = 16

/** @throws GatewayError 400 with `param`. */
export function decodeGeneration(body: WireBody): ImagesRequest {
  const json = body.json() as JsonObject
  return made({
    task: 'generate',
    model: modelOf(json),
    prompt: textField(json, 'prompt'),
    count: numberField(json, 'n'),
    size: textField(json, 'size'),
    quality: textField(json, 'quality'),
    format: textField(json, 'response_format'),
    stream: booleanField(json, 'stream') ?? false,
    images: [],
    mask: null,
    extra: others(json, KNOWN) ?? {},
  })
}

/** @throws GatewayError 400 with `param`. */
export function decodeUpload(task: 'edit' | 'vary'): (form: FormBody) => ImagesRequest {
  return (form) => {
    const images = form.files.filter(({ field }) => field === 'image' || field === 'image[]')
    if (images.length === 0) throw GatewayError.invalid('image', '`image` is required: a file in the form.')
    if (images.length > MOST_SOURCES) throw GatewayError.invalid('image', `At most ${MOST_SOURCES} images can be edited at once.`)
    return made({
      task,
      model: modelOf({ model: formText(form, 'model') }),
      prompt: formText(form, 'prompt'),
      count: formNumber(form, 'n'),
      size: formText(form, 'size'),
      quality: formText(form, 'quality'),
      format: formText(form, 'response_format'),
      stream: formBoolean(form, 'stream'),
      images,
      mask: formFile(form, 'mask') ?? null,
      extra: otherFields(form, KNOWN),
    })
  }
}

interface Given extends Pick<ImagesRequest, 'task' | 'model' | 'stream' | 'images' | 'mask' | 'extra'> {
  prompt: string | undefined
  count: number | undefined
  size: string | undefined
  quality: string | undefined
  format: string | undefined
}

function made({ prompt = '', count = 1, size, quality, format, ...rest }: Given): ImagesRequest {
  if (prompt === '' && rest.task !== 'vary') throw GatewayError.invalid('prompt', '`prompt` is required.')
  if (!Number.isInteger(count) || count < 1 || count > MOST_IMAGES)
    throw GatewayError.invalid('n', `\`n\` must be a whole number from 1 to ${MOST_IMAGES}.`)
  if (format !== undefined && format !== 'url' && format !== 'b64_json')
    throw GatewayError.invalid('response_format', '`response_format` must be `url` or `b64_json`.')
  return {
    ...rest,
    prompt,
    count,
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    ...(format === undefined ? {} : { format }),
  }
}

export function encodeImages(
  { created, images, usage, extra }: Frozen<ImagesAnswer>,
  { format, stream, task }: Frozen<ImagesRequest>,
  codec: CodecContext,
): EncodedAnswer {
  const data = images.map(({ url, base64, revisedPrompt }) => ({
    ...(base64 === undefined ? { url } : { b64_json: base64 }),
    ...(revisedPrompt === undefined ? {} : { revised_prompt: revisedPrompt }),
  }))
  // A link would need a store of its own: the image itself is better than an error.
  if (images.some((image) => !hasFormat(image, format))) codec.warn(`response_format_${format === 'url' ? 'b64_json' : 'url'}`)
  const { inputTotal, outputTotal, total } = usage
  const counts = { input_tokens: inputTotal, output_tokens: outputTotal, total_tokens: total }
  if (stream)
    return { contentType: 'text/event-stream; charset=utf-8', body: events(data, task, created, total > 0 ? counts : null) }
  return { contentType: JSON_TYPE, body: JSON.stringify({ created, data, ...extra, ...(total > 0 ? { usage: counts } : {}) }) }
}

/** The events of a vendor that sends no partial images: one per finished image. */
function events(data: readonly object[], task: ImagesRequest['task'], created: number, usage: object | null): string {
  const type = task === 'generate' ? 'image_generation.completed' : 'image_edit.completed'
  return data
    .map(
      (image) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, created_at: created, ...image, ...(usage ? { usage } : {}) })}\n\n`,
    )
    .join('')
}

export const promptText: TextsOf<ImagesRequest> = {
  read: ({ prompt }) => (prompt === '' ? [] : [prompt]),
  replace: (request, [prompt = '']) => ({ ...(request as ImagesRequest), prompt }),
}
