// Decodes tools[] and tool_choice. The vendor's typed tools stay raw; web search also gets the common form.
import { RawJson } from '../../../../core/json/raw-json.ts'
import type { CanonicalRequest, FunctionTool, Json, JsonObject, ToolChoice } from '../../../../core/types/request/canonical.ts'
import { booleanField, isObject, listField, numberField, others, textField, wrongType } from '../../shared/fields.ts'
import { cacheMark } from './decode-block.ts'

const TOOL_KEYS = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control', 'defer_loading'])

/** Sets tools, choice, parallelism and web search on the request being built. */
export function decodeTools(wire: JsonObject, request: CanonicalRequest): void {
  for (const [index, tool] of (listField(wire, 'tools') ?? []).entries()) decodeTool(tool, `tools.${index}`, request)
  const { tool_choice: choice } = wire
  if (choice === undefined || choice === null) return
  if (!isObject(choice)) throw wrongType('tool_choice', 'an object')
  const decoded = decodeChoice(choice, request)
  if (decoded !== undefined) request.toolChoice = decoded
  if (booleanField(choice, 'disable_parallel_tool_use', 'tool_choice.disable_parallel_tool_use'))
    request.parallelToolCalls = false
}

function decodeTool(tool: Json, at: string, request: CanonicalRequest): void {
  if (!isObject(tool)) throw wrongType(at, 'an object')
  const type = textField(tool, 'type', `${at}.type`) ?? 'custom'
  if (type === 'custom') {
    request.tools.push(functionTool(tool, at))
    return
  }
  request.tools.push({ t: 'server', dialect: 'messages', kind: type, raw: tool })
  if (type.startsWith('web_search')) request.webSearch ??= webSearch(tool, at)
}

function functionTool(tool: JsonObject, at: string): FunctionTool {
  const out: FunctionTool = { t: 'function', name: textField(tool, 'name', `${at}.name`) ?? '' }
  if (out.name === '') throw wrongType(`${at}.name`, 'a non-empty string')
  const description = textField(tool, 'description', `${at}.description`)
  const strict = booleanField(tool, 'strict', `${at}.strict`)
  const deferLoading = booleanField(tool, 'defer_loading', `${at}.defer_loading`)
  const cache = cacheMark(tool)
  const rest = others(tool, TOOL_KEYS)
  if (description !== undefined) out.description = description
  if (tool.input_schema !== undefined && tool.input_schema !== null) out.schema = tool.input_schema
  if (strict !== undefined) out.strict = strict
  if (deferLoading !== undefined) out.deferLoading = deferLoading
  if (cache !== undefined) out.cache = cache
  if (rest !== null) out.ext = { messages: rest }
  return out
}

function decodeChoice(choice: JsonObject, request: CanonicalRequest): ToolChoice | undefined {
  const type = textField(choice, 'type', 'tool_choice.type')
  if (type === 'auto' || type === 'none') return { mode: type }
  if (type === 'any') return { mode: 'required' }
  if (type !== 'tool') throw wrongType('tool_choice.type', '"auto", "any", "tool" or "none"')
  const name = textField(choice, 'name', 'tool_choice.name') ?? ''
  const typedTool = request.tools.some((tool) => tool.t === 'server' && isObject(tool.raw) && tool.raw.name === name)
  return typedTool ? { mode: 'server', raw: choice } : { mode: 'tool', name }
}

function webSearch(tool: JsonObject, at: string): NonNullable<CanonicalRequest['webSearch']> {
  const allowedDomains = domains(tool, 'allowed_domains', at)
  const blockedDomains = domains(tool, 'blocked_domains', at)
  const maxUses = numberField(tool, 'max_uses', `${at}.max_uses`)
  const location = tool.user_location
  return {
    ...(isObject(location) ? { userLocation: location } : {}),
    ...(allowedDomains === undefined ? {} : { allowedDomains }),
    ...(blockedDomains === undefined ? {} : { blockedDomains }),
    ...(maxUses === undefined ? {} : { maxUses }),
  }
}

function domains(tool: JsonObject, key: string, at: string): string[] | undefined {
  return listField(tool, key, `${at}.${key}`)?.filter((domain) => typeof domain === 'string')
}

/** Returns the wire `input` of a call. Calls `onWrapped` when the arguments are not an object. */
export function callInput(args: string, custom: boolean, onWrapped: () => void): unknown {
  const text = args.trim()
  if (!custom && (text === '' || text === 'null')) return {}
  const parsed = parse(text)
  if (custom) {
    const wrapped = isObject(parsed) && typeof parsed.input === 'string' && Object.keys(parsed).length === 1
    return wrapped ? new RawJson(text) : { input: args }
  }
  if (isObject(parsed)) return new RawJson(text)
  onWrapped()
  return { _raw: args }
}

/** Returns the plain text of a custom call that an upstream made as a function: canonical custom arguments are always plain text. */
export function plainInput(args: string): string {
  const parsed = parse(args)
  return isObject(parsed) && typeof parsed.input === 'string' && Object.keys(parsed).length === 1 ? parsed.input : args
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
