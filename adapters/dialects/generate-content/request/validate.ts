// Validates every body, also on the byte lane: each member in one spelling, and valid output limits. Google accepts both key styles and
// does not document which one takes precedence.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { WireBody } from '../../../../core/types/request/dialect.ts'
import { checkBound } from '../../shared/bounds.ts'
import { camelFields, isObject, listField } from '../fields.ts'
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
/** The snake case names of contents and parts, and of tools. Most bodies have none of them, so nothing is parsed. */
const SNAKE_PARTS = [
  'inline_data',
  'file_data',
  'function_call',
  'function_response',
  'video_metadata',
  'executable_code',
  'code_execution_result',
  'media_resolution',
  'thought_signature',
  'mime_type',
  'file_uri',
] as const
const SNAKE_TOOLS = [
  'function_declarations',
  'google_search',
  'google_search_retrieval',
  'google_maps',
  'code_execution',
  'url_context',
  'file_search',
  'computer_use',
  'mcp_servers',
  'parameters_json_schema',
  'response_json_schema',
] as const
const BOUNDS = ['maxOutputTokens', 'candidateCount'] as const

/** @throws GatewayError 400 with `param` set. */
export function validateGenerateContent(body: WireBody): void {
  for (const [camel, snake] of TWO_SPELLINGS)
    if (body.peek(snake) !== undefined && body.peek(camel) !== undefined) throw twoSpellings(camel, snake)
  const wrapper = wrapperOf(body)
  if (wrapper !== null && body.peek('contents') !== undefined)
    throw GatewayError.invalid(wrapper, `\`${wrapper}\` is also there as \`contents\`: send one of them.`)
  if (names(body, 'contents', SNAKE_PARTS))
    for (const content of objects(body.get('contents')))
      for (const part of objects(camelFields(content).parts)) checkMembers(part)
  if (names(body, 'tools', SNAKE_TOOLS))
    for (const tool of objects(body.get('tools'))) {
      checkMembers(tool)
      for (const declaration of objects(camelFields(tool).functionDeclarations)) camelFields(declaration)
    }
  const config = body.get(body.peek('generation_config') === undefined ? 'generationConfig' : 'generation_config')
  if (!isObject(config)) return
  const fields = camelFields(config)
  for (const bound of BOUNDS) checkBound(numeric(fields[bound]), `generationConfig.${bound}`)
  const { thinkingConfig } = fields
  if (isObject(thinkingConfig)) camelFields(thinkingConfig)
}

function names(body: WireBody, member: string, list: readonly string[]): boolean {
  if (body.peek(member) === undefined || !list.some((name) => body.mayName(name))) return false
  // A name may be written with escapes.
  return body.contains(member, '\\u') || list.some((name) => body.contains(member, `"${name}"`))
}

function objects(value: Json | undefined): JsonObject[] {
  return listField(value ?? undefined).filter(isObject)
}

/** Checks an object and its own objects. Arguments and results of calls lie deeper: their members have any name. */
function checkMembers(value: JsonObject): void {
  for (const inner of Object.values(camelFields(value))) if (isObject(inner)) camelFields(inner)
}

function twoSpellings(camel: string, snake: string): GatewayError {
  return GatewayError.invalid(camel, `\`${camel}\` is also there as \`${snake}\`: send one of them.`)
}

/** Protobuf JSON writes 64-bit numbers as strings. */
function numeric(value: Json | undefined): Json | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}
