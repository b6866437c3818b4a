// Decodes tools[] and tool_choice. Function tools are flat. Tools other than function, custom and namespace are server tools and kept
// unchanged; web search also gets the common form.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type {
  CanonicalRequest,
  FunctionTool,
  Json,
  JsonObject,
  Tool,
  ToolChoice,
} from '../../../../core/types/request/canonical.ts'
import { booleanField, isObject, listField, objectField, others, textField } from '../../shared/fields.ts'
import { isStrictSchema } from './strict-schema.ts'

const FUNCTION_FIELDS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict', 'defer_loading'])

/** Matches web search under all its dated names. */
export function isWebSearch(kind: string): boolean {
  return /^(web_?search|google_?search)/i.test(kind)
}

export function decodeTools(wire: JsonObject): Pick<CanonicalRequest, 'tools' | 'webSearch'> {
  const tools = (listField(wire, 'tools') ?? []).map((tool, index) => decodeTool(tool, `tools[${index}]`))
  const at = tools.findIndex((tool) => tool.t === 'server' && isWebSearch(tool.kind))
  const search = tools[at]
  if (search?.t !== 'server') return { tools }
  return { tools, webSearch: webSearch(search.raw as JsonObject, `tools[${at}]`) }
}

export function decodeToolChoice(value: Json | undefined): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { mode: value }
  if (!isObject(value))
    throw GatewayError.invalid('tool_choice', '`tool_choice` must be "none", "auto", "required" or an object.')
  if (value.type === 'function' || value.type === 'custom') {
    const name = textField(value, 'name', 'tool_choice.name')
    if (!name) throw GatewayError.invalid('tool_choice.name', '`tool_choice.name` is required.')
    return { mode: 'tool', name }
  }
  if (value.type === 'allowed_tools') {
    const names = (listField(value, 'tools', 'tool_choice.tools') ?? []).map(allowedName).filter((name) => name !== '')
    return { mode: 'allowed', base: value.mode === 'required' ? 'required' : 'auto', names }
  }
  return { mode: 'server', raw: value }
}

function decodeTool(value: Json, at: string): Tool {
  if (!isObject(value)) throw GatewayError.invalid(at, `\`${at}\` must be an object.`)
  const type = textField(value, 'type', `${at}.type`)
  if (!type) throw GatewayError.invalid(`${at}.type`, `\`${at}.type\` is required.`)
  if (type === 'function') return functionTool(value, at)
  if (type === 'custom') {
    const description = textField(value, 'description', `${at}.description`)
    return {
      t: 'custom',
      name: nameOf(value, at),
      ...(description === undefined ? {} : { description }),
      ...(value.format === undefined || value.format === null ? {} : { format: value.format }),
    }
  }
  if (type === 'namespace') {
    const inner = listField(value, 'tools', `${at}.tools`) ?? []
    return {
      t: 'namespace',
      name: nameOf(value, at),
      description: textField(value, 'description', `${at}.description`) ?? '',
      tools: inner.map((tool, index) => decodeTool(tool, `${at}.tools[${index}]`)),
    }
  }
  return { t: 'server', dialect: 'responses', kind: type, raw: value }
}

function functionTool(value: JsonObject, at: string): FunctionTool {
  const description = textField(value, 'description', `${at}.description`)
  const schema = objectField(value, 'parameters', `${at}.parameters`)
  const deferLoading = booleanField(value, 'defer_loading', `${at}.defer_loading`)
  const rest = others(value, FUNCTION_FIELDS)
  return {
    t: 'function',
    name: nameOf(value, at),
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
    // This API treats a missing `strict` as true; other dialects do so only for a schema that can be strict.
    strict: booleanField(value, 'strict', `${at}.strict`) ?? isStrictSchema(schema),
    ...(deferLoading === undefined ? {} : { deferLoading }),
    ...(rest === null ? {} : { ext: { responses: rest } }),
  }
}

function nameOf(value: JsonObject, at: string): string {
  const name = textField(value, 'name', `${at}.name`)
  if (!name) throw GatewayError.invalid(`${at}.name`, `\`${at}.name\` is required.`)
  return name
}

function allowedName(tool: Json): string {
  if (!isObject(tool)) return ''
  return typeof tool.name === 'string' ? tool.name : typeof tool.type === 'string' ? tool.type : ''
}

function webSearch(raw: JsonObject, at: string): NonNullable<CanonicalRequest['webSearch']> {
  const filters = objectField(raw, 'filters', `${at}.filters`) ?? {}
  const contextSize = textField(raw, 'search_context_size', `${at}.search_context_size`)
  const allowedDomains = domains(filters, 'allowed_domains', at)
  const blockedDomains = domains(filters, 'blocked_domains', at)
  return {
    ...(contextSize === undefined ? {} : { contextSize }),
    ...(raw.user_location === undefined || raw.user_location === null ? {} : { userLocation: raw.user_location }),
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
  }
}

function domains(filters: JsonObject, key: string, at: string): string[] | undefined {
  const list = listField(filters, key, `${at}.filters.${key}`)
  return list?.filter((entry): entry is string => typeof entry === 'string')
}
