// The caller's side of compact: the format of OpenAI, and `mode`.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { EncodedAnswer, TextsOf } from '../../../core/types/operations/operation.ts'
import type { CompactAnswer, CompactRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../core/types/request/dialect.ts'
import { encodeUsage } from '../../dialects/responses/usage.ts'
import { isObject, others, textField } from '../../dialects/shared/fields.ts'
import { modelOf } from '../embeddings/caller.ts'
import { JSON_TYPE } from '../shared/answers.ts'

export const MODES = ['native', 'heuristic', 'model'] as const
const KNOWN = new Set(['model', 'input', 'instructions', 'mode'])

/** @throws GatewayError 400 with `param`. */
export function decodeCompact(body: WireBody): CompactRequest {
  const json = body.json() as JsonObject
  const instructions = textField(json, 'instructions')
  const mode = modeOf(json.mode)
  return {
    model: modelOf(json),
    input: itemsOf(json.input, typeof json.previous_response_id === 'string'),
    ...(instructions === undefined ? {} : { instructions }),
    ...(mode === undefined ? {} : { mode }),
    extra: others(json, KNOWN) ?? {},
  }
}

function modeOf(value: Json | undefined): CompactRequest['mode'] {
  if (value === undefined || value === null) return undefined
  const mode = MODES.find((one) => one === value)
  if (mode === undefined)
    throw GatewayError.invalid('mode', `\`mode\` must be one of ${MODES.map((one) => `\`${one}\``).join(', ')}.`)
  return mode
}

function itemsOf(input: Json | undefined, isContinued: boolean): JsonObject[] {
  if (isContinued && (input === undefined || input === null)) return []
  if (input === undefined || input === null) throw GatewayError.invalid('input', '`input` is required.')
  if (typeof input === 'string' && input !== '') return [{ type: 'message', role: 'user', content: input }]
  if (!Array.isArray(input) || input.length === 0)
    throw GatewayError.invalid('input', '`input` must be a string or a list of items, and not empty.')
  return input.map((item, index) => {
    if (isObject(item)) return item
    throw GatewayError.invalid(`input[${index}]`, `\`input[${index}]\` must be an object.`)
  })
}

export function encodeCompact({ id, created, output, usage }: Frozen<CompactAnswer>): EncodedAnswer {
  const body = { id, object: 'response.compaction', created_at: created, output, usage: encodeUsage(usage) }
  return { contentType: JSON_TYPE, body: JSON.stringify(body) }
}

/** Members of items that hold text, or lists of parts with text. */
const TEXTS = ['content', 'output', 'summary'] as const
const ARGUMENTS = ['arguments', 'input'] as const

export const compactTexts: TextsOf<CompactRequest> = {
  read({ input, instructions }) {
    const texts: string[] = instructions === undefined ? [] : [instructions]
    eachText(input as JsonObject[], (text) => {
      texts.push(text)
      return text
    })
    return texts
  },
  replace(request, texts) {
    const left = [...texts]
    const next = (): string => left.shift() as string
    const instructions = request.instructions === undefined ? {} : { instructions: next() }
    return { ...(request as CompactRequest), ...instructions, input: eachText(request.input as JsonObject[], next) }
  },
}

/** Returns copies of the items in which each text is what `map` returns. */
function eachText(items: readonly JsonObject[], map: (text: string) => string): JsonObject[] {
  return items.map((item) => {
    const copy: JsonObject = { ...item }
    for (const name of TEXTS) if (copy[name] !== undefined) copy[name] = mapped(copy[name], map)
    for (const name of ARGUMENTS) if (typeof copy[name] === 'string') copy[name] = map(copy[name])
    return copy
  })
}

function mapped(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value)
  if (!Array.isArray(value)) return value
  return value.map((part) => {
    if (typeof part === 'string') return map(part)
    return isObject(part) && typeof part.text === 'string' ? { ...part, text: map(part.text) } : part
  })
}
