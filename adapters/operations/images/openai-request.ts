// Writes image requests of OpenAI-like vendors: the caller's own JSON with the vendor's changes spliced in, or a form.

import type { OperationUpstream, UpstreamRequest } from '../../../core/types/operations/operation.ts'
import type { ImagesRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { fieldsOf } from '../shared/form-fields.ts'
import { pixelsOf, ratioFor } from './sizes.ts'

/** How an OpenAI-like vendor differs. */
export interface ImagesForm {
  /** The ratios that it takes as `aspect_ratio` in place of `size`. */
  ratios?: readonly string[]
  /** True: it takes `width` and `height` in place of `size`. */
  pixels?: boolean
  /** Its name for `size`. */
  size?: string
  /** Its name for `n`. */
  count?: string
  /** Its word for the format `b64_json`. */
  base64?: string
  /** Its name for the list of images. */
  list?: 'data' | 'images'
}

const PATHS = { generate: '/images/generations', edit: '/images/edits', vary: '/images/variations' } as const
/** These models answer base64 always, and refuse the members. */
const GPT_IMAGE = /(?:^|\/)(?:chatgpt|gpt)-image/

export function callOf(request: Frozen<ImagesRequest>, upstream: OperationUpstream, form: ImagesForm): UpstreamRequest {
  const { task, images, mask } = request
  const path = PATHS[task]
  const changes = changesOf(request, upstream, form)
  const { wire } = upstream
  if (task === 'generate' && wire !== null) {
    for (const [name, value] of Object.entries(changes)) if (value === null) wire.remove(name)
    for (const [name, value] of Object.entries(changes)) if (value !== null) wire.set(name, value)
    return { path, body: wire }
  }
  const all = Object.entries({ ...membersOf(request), ...changes })
  const members: JsonObject = Object.fromEntries(all.filter(([, value]) => value !== null))
  if (task === 'generate') return { path, body: members }
  return { path, body: { fields: fieldsOf(members), files: [...images, ...(mask === null ? [] : [mask])] } }
}

/** The request in OpenAI's members. */
function membersOf({ model, prompt, count, size, quality, format, stream, extra }: Frozen<ImagesRequest>): JsonObject {
  return {
    ...(extra as JsonObject),
    model,
    ...(prompt === '' ? {} : { prompt }),
    ...(count === 1 ? {} : { n: count }),
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    ...(format === undefined ? {} : { response_format: format }),
    ...(stream ? { stream } : {}),
  }
}

/** Returns the members that differ at the vendor; null: it does not take them. */
function changesOf(request: Frozen<ImagesRequest>, upstream: OperationUpstream, form: ImagesForm): Record<string, Json> {
  const { model, codec, whole } = upstream
  const { count, format, stream, extra } = request
  const changes: Record<string, Json> = { model, ...sizeOf(request, upstream, form) }
  if (form.count !== undefined) Object.assign(changes, { n: null }, count === 1 ? {} : { [form.count]: count })
  if (form.base64 !== undefined && format === 'b64_json') changes.response_format = form.base64
  if (GPT_IMAGE.test(model)) {
    if (extra.style !== undefined || format !== undefined) codec.warn('unsupported_image_fields')
    Object.assign(changes, { style: null, response_format: null })
  }
  if (stream && whole) Object.assign(changes, { stream: null, partial_images: null })
  return changes
}

function sizeOf({ size }: Frozen<ImagesRequest>, { codec }: OperationUpstream, form: ImagesForm): Record<string, Json> {
  if (size === undefined) return {}
  if (form.ratios !== undefined) {
    const ratio = ratioFor(size, form.ratios, codec)
    return { size: null, ...(ratio === undefined ? {} : { aspect_ratio: ratio }) }
  }
  if (form.pixels) return { size: null, ...pixelsOf(size) }
  return form.size === undefined ? {} : { size: null, [form.size]: size }
}
