// Moderations at OpenAI, and at Mistral, which sends no `flagged`.

import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { OperationCodec } from '../../../core/types/operations/operation.ts'
import type { ModerationsAnswer, ModerationsRequest } from '../../../core/types/operations/operations.ts'
import type { Frozen, Json, JsonObject } from '../../../core/types/request/canonical.ts'
import { isObject } from '../../dialects/shared/fields.ts'
import { JSON_TYPE, listOf, missing, parsed } from '../shared/answers.ts'
import { reportedUsage, usageOf } from '../shared/usage.ts'

export const openaiModerations: OperationCodec<'moderations'> = async (request, upstream) => {
  const { wire } = upstream
  wire?.set('model', upstream.model)
  const body = wire ?? { ...(request.extra as JsonObject), model: upstream.model, input: inputOf(request) }
  const answer = await upstream.send({ path: '/moderations', body })
  const json = parsed(answer)
  const usage = reportedUsage(json.usage) ?? usageOf({})
  const made = answerOf(json, upstream.model, usage, request.inputs.length)
  const complete = made.results.length > 0 && !isDerived(json)
  return { usage, answer: () => made, ...(complete ? { wire: { contentType: JSON_TYPE, body: answer.bytes } } : {}) }
}

export const mistralModerations: OperationCodec<'moderations'> = async (request, upstream) => {
  if (request.inputs.flat().some(({ t }) => t === 'image'))
    throw GatewayError.unsupported('input', 'This model moderates texts only.')
  const json = parsed(
    await upstream.send({
      path: '/moderations',
      body: { ...(request.extra as JsonObject), model: upstream.model, input: inputOf(request) },
    }),
  )
  const usage = reportedUsage(json.usage) ?? usageOf({})
  const answer = answerOf(json, upstream.model, usage, request.inputs.length)
  return { usage, answer: () => answer }
}

function inputOf({ inputs, form }: Frozen<ModerationsRequest>): Json {
  if (form !== 'parts') {
    const texts = inputs.map(([part]) => (part?.t === 'text' ? part.text : ''))
    return form === 'text' ? (texts[0] as string) : texts
  }
  return (inputs[0] ?? []).map(
    (part): JsonObject =>
      part.t === 'text' ? { type: 'text', text: part.text } : { type: 'image_url', image_url: { url: part.url } },
  )
}

/** A vendor without `flagged` flags what any category flags. */
function isDerived({ results }: JsonObject): boolean {
  return Array.isArray(results) && results.some((result) => isObject(result) && typeof result.flagged !== 'boolean')
}

/** @throws GatewayError 502 when results are missing: an input without a verdict must not look harmless. */
function answerOf(json: JsonObject, model: string, usage: ModerationsAnswer['usage'], inputs: number): ModerationsAnswer {
  const results = listOf(json.results, inputs, 'results')
  return {
    id: typeof json.id === 'string' ? json.id : 'modr',
    model: typeof json.model === 'string' ? json.model : model,
    usage,
    results: results.map((result, at) => resultOf(result, at)),
  }
}

function resultOf(result: Json, at: number): ModerationsAnswer['results'][number] {
  if (!isObject(result) || !isObject(result.categories)) throw missing(`results.${at}.categories`)
  const categories = Object.fromEntries(Object.entries(result.categories).map(([name, flag]) => [name, flag === true]))
  const scores = isObject(result.category_scores) ? result.category_scores : {}
  const types = result.category_applied_input_types
  return {
    flagged: typeof result.flagged === 'boolean' ? result.flagged : Object.values(categories).includes(true),
    categories,
    scores: Object.fromEntries(Object.entries(scores).filter((entry): entry is [string, number] => typeof entry[1] === 'number')),
    ...(isObject(types) ? { appliedInputTypes: types as Record<string, string[]> } : {}),
  }
}
