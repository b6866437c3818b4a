// The caller's side of moderations: the format of OpenAI.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { ModerationPart, ModerationsAnswer, ModerationsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { isObject, others } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'

export const DEFAULT_MODEL = 'openai/omni-moderation-latest'
const KNOWN = new Set(['model', 'input'])

/** @throws GatewayError 400 with `param`. */
export function decodeModerations(body: WireBody): ModerationsRequest {
  const json = body.json() as JsonObject
  const model = json.model === undefined || json.model === null ? DEFAULT_MODEL : modelOf(json)
  return { model, ...inputsOf(json.input), extra: others(json, KNOWN) ?? {} }
}

function inputsOf(input: Json | undefined): Pick<ModerationsRequest, 'inputs' | 'form'> {
  if (typeof input === 'string') return { inputs: [[{ t: 'text', text: input }]], form: 'text' }
  if (!Array.isArray(input) || input.length === 0)
    throw GatewayError.invalid('input', '`input` must be a string, a list of strings, or a list of parts, and not empty.')
  if (input.every((one) => typeof one === 'string')) return { inputs: input.map((text) => [{ t: 'text', text }]), form: 'texts' }
  return { inputs: [input.map(partOf)], form: 'parts' }
}

function partOf(part: Json, index: number): ModerationPart {
  if (isObject(part) && part.type === 'text' && typeof part.text === 'string') return { t: 'text', text: part.text }
  const image = isObject(part) && part.type === 'image_url' ? part.image_url : undefined
  const url = isObject(image) ? image.url : image
  if (typeof url === 'string') return { t: 'image', url }
  throw GatewayError.invalid(
    `input.${index}`,
    `\`input.${index}\` must be a part: \`{ "type": "text", "text" }\` or \`{ "type": "image_url", "image_url": { "url" } }\`.`,
  )
}

export function encodeModerations({ id, model, results }: Frozen<ModerationsAnswer>): EncodedAnswer {
  const listed = results.map(({ flagged, categories, scores, appliedInputTypes }) => ({
    flagged,
    categories,
    category_scores: scores,
    ...(appliedInputTypes === undefined ? {} : { category_applied_input_types: appliedInputTypes }),
  }))
  return { contentType: JSON_TYPE, body: JSON.stringify({ id, model, results: listed }) }
}

export const moderationTexts: TextsOf<ModerationsRequest> = {
  read: ({ inputs }) => inputs.flat().flatMap((part) => (part.t === 'text' ? [part.text] : [])),
  replace(request, texts) {
    const left = [...texts]
    const inputs = request.inputs.map((parts) =>
      parts.map((part) => (part.t === 'text' ? { t: 'text' as const, text: left.shift() as string } : { ...part })),
    )
    return { ...(request as ModerationsRequest), inputs }
  },
}
