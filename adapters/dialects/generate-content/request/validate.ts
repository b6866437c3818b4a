// Validates every body, also on the byte lane: each member in one spelling, and valid output limits. Google accepts both key styles and
// does not document which one takes precedence.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Json } from '../../../../core/types/canonical.ts'
import type { WireBody } from '../../../../core/types/dialect.ts'
import { checkBound } from '../../shared/bounds.ts'
import { camelFields, isObject } from '../fields.ts'
import { wrapperOf } from './count-tokens.ts'

/** Members of a request whose name has two spellings. */
const TWO_SPELLINGS: readonly (readonly [camel: string, snake: string])[] = [
  ['generationConfig', 'generation_config'],
  ['systemInstruction', 'system_instruction'],
  ['toolConfig', 'tool_config'],
  ['safetySettings', 'safety_settings'],
  ['cachedContent', 'cached_content'],
  ['serviceTier', 'service_tier'],
  ['generateContentRequest', 'generate_content_request'],
]
const BOUNDS = ['maxOutputTokens', 'candidateCount'] as const

/** @throws GatewayError 400 with `param` set. */
export function validateGenerateContent(body: WireBody): void {
  for (const [camel, snake] of TWO_SPELLINGS)
    if (body.peek(snake) !== undefined && body.peek(camel) !== undefined) throw twoSpellings(camel, snake)
  const wrapper = wrapperOf(body)
  if (wrapper !== null && body.peek('contents') !== undefined)
    throw GatewayError.invalid(wrapper, `\`${wrapper}\` is also there as \`contents\`: send one of them.`)
  const config = body.get(body.peek('generation_config') === undefined ? 'generationConfig' : 'generation_config')
  if (!isObject(config)) return
  const fields = camelFields(config)
  for (const bound of BOUNDS) checkBound(numeric(fields[bound]), `generationConfig.${bound}`)
  const { thinkingConfig } = fields
  if (isObject(thinkingConfig)) camelFields(thinkingConfig)
}

function twoSpellings(camel: string, snake: string): GatewayError {
  return GatewayError.invalid(camel, `\`${camel}\` is also there as \`${snake}\`: send one of them.`)
}

/** Protobuf JSON writes 64-bit numbers as strings. */
function numeric(value: Json | undefined): Json | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
