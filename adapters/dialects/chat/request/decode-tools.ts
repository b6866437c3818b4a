// Decodes tools, tool_choice and their legacy forms. Canonical custom formats are flat (`{type:"grammar", syntax, definition}`); the chat
// wire nests them.
import type { Json, JsonObject, Tool, ToolChoice } from '../../../../core/types/request/canonical.ts'
import {
  isObject,
  optionalArray,
  optionalBoolean,
  optionalObject,
  optionalString,
  requiredString,
  text,
  wrongType,
} from '../read.ts'
import { cacheMark, chatExt } from './decode-parts.ts'

export function decodeTools(wire: JsonObject): Tool[] {
  const tools = (optionalArray(wire, 'tools') ?? []).map((tool, index) => decodeTool(tool, `tools.${index}`))
  const legacy = (optionalArray(wire, 'functions') ?? []).map((fn, index) => functionTool(fn, `functions.${index}.`))
  return [...tools, ...legacy]
}

export function decodeToolChoice(wire: JsonObject): ToolChoice | undefined {
  const choice = wire.tool_choice ?? wire.function_call ?? undefined
  if (choice === undefined) return undefined
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice }
  if (choice === 'any') return { mode: 'required' }
  if (!isObject(choice)) throw wrongType('tool_choice', '"none", "auto", "required" or an object')
  if (isObject(choice.function)) return { mode: 'tool', name: requiredString(choice.function, 'name', 'tool_choice.function.') }
  if (isObject(choice.custom)) return { mode: 'tool', name: requiredString(choice.custom, 'name', 'tool_choice.custom.') }
  if (choice.type === 'allowed_tools') return allowedTools(choice)
  // Legacy function_call: {name}.
  if (choice.type === undefined && typeof choice.name === 'string') return { mode: 'tool', name: choice.name }
  return { mode: 'server', raw: choice }
}

const FUNCTION_KEYS: ReadonlySet<string> = new Set(['type', 'name', 'description', 'parameters', 'strict', 'cache_control'])

function decodeTool(tool: Json, at: string): Tool {
  if (!isObject(tool)) throw wrongType(at, 'an object')
  if (tool.type === 'custom' && isObject(tool.custom)) return customTool(tool.custom, `${at}.custom.`)
  if (tool.type === 'function' || isObject(tool.function)) {
    const fn = functionTool(optionalObject(tool, 'function', `${at}.`) ?? tool, `${at}.function.`)
    const cache = cacheMark(tool)
    return cache === undefined ? fn : { ...fn, cache }
  }
  return { t: 'server', dialect: 'chat', kind: text(tool.type) ?? '', raw: tool }
}

function functionTool(fn: Json, at: string): Extract<Tool, { t: 'function' }> {
  if (!isObject(fn)) throw wrongType(at.slice(0, -1), 'an object')
  const description = optionalString(fn, 'description', at)
  const strict = optionalBoolean(fn, 'strict', at)
  const schema = fn.parameters ?? undefined
  const cache = cacheMark(fn)
  return {
    t: 'function',
    name: requiredString(fn, 'name', at),
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
    ...(strict === undefined ? {} : { strict }),
    ...(cache === undefined ? {} : { cache }),
    ...chatExt(fn, FUNCTION_KEYS),
  }
}

function customTool(custom: JsonObject, at: string): Tool {
  const description = optionalString(custom, 'description', at)
  const format = optionalObject(custom, 'format', at)
  return {
    t: 'custom',
    name: requiredString(custom, 'name', at),
    ...(description === undefined ? {} : { description }),
    ...(format === undefined ? {} : { format: isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : format }),
  }
}

function allowedTools(choice: JsonObject): ToolChoice {
  const allowed = optionalObject(choice, 'allowed_tools', 'tool_choice.') ?? choice
  const names = (optionalArray(allowed, 'tools', 'tool_choice.allowed_tools.') ?? []).flatMap((tool) => {
    if (!isObject(tool)) return []
    const named = isObject(tool.function) ? tool.function : isObject(tool.custom) ? tool.custom : tool
    return text(named.name) ?? []
  })
  return { mode: 'allowed', base: allowed.mode === 'required' ? 'required' : 'auto', names }
}
