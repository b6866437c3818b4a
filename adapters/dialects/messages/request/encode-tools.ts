// Canonical tools → tools[]. Own typed tools go back raw, those of others are dropped.
import type { CanonicalRequest, Frozen, FunctionTool, JsonObject, Tool } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import type { Block } from '../response/block.ts'
import { declareJsonTool, flatName, rememberCustom, rememberNamespace, wireName } from '../tool-names.ts'
import { cacheControl } from './encode-blocks.ts'
import type { OutputPlan } from './encode-output.ts'
import { encodeToolChoice, type ToolSet } from './encode-tool-choice.ts'
import { inputSchema } from './input-schema.ts'
import { outputSchema } from './output-schema.ts'
import { webSearchTool } from './web-search.ts'

export interface EncodedTools {
  tools: Block[]
  toolChoice?: Block
}

export function encodeTools(request: Frozen<CanonicalRequest>, output: OutputPlan, codec: CodecContext): EncodedTools {
  const set: ToolSet = { functions: new Map(), server: [] }
  for (const tool of request.tools) collect(tool, null, set, request, codec)
  addWebSearch(request, set, codec)
  keepAllowed(request, set)
  refuseUnmetChoice(request, set.functions.size + set.server.length > 0)
  const undeclared = set.functions.size === 0 && set.server.length === 0 && output.tool === undefined
  if (undeclared) declareHistory(request, set, codec)
  const tools = [...set.functions.values(), ...set.server]
  if (output.tool !== undefined) {
    set.json = declareJsonTool(output.tool.wrapped, (name) => tools.some((tool) => tool.name === name), codec)
    tools.push({ name: set.json, description: output.tool.description, input_schema: output.tool.schema })
  }
  if (tools.length === 0) return { tools }
  // Calls in the history need declarations, but the caller asked for no new calls.
  if (undeclared) return { tools, toolChoice: { type: 'none' } }
  const toolChoice = encodeToolChoice(request, set, codec)
  return toolChoice === undefined ? { tools } : { tools, toolChoice }
}

function collect(
  tool: Frozen<Tool>,
  namespace: string | null,
  set: ToolSet,
  request: Frozen<CanonicalRequest>,
  codec: CodecContext,
): void {
  if (tool.t === 'namespace') {
    for (const inner of tool.tools) collect(inner, tool.name, set, request, codec)
    return
  }
  if (tool.t === 'server') {
    if (tool.dialect === 'messages') set.server.push({ ...(tool.raw as JsonObject) })
    // Web search has its common form in `request.webSearch`.
    else if (!isWebSearch(tool.kind) || request.webSearch === undefined) codec.warn('dropped_tool')
    return
  }
  const flat = flatName(tool.name, namespace)
  if (namespace !== null) rememberNamespace(flat, tool.name, namespace, codec)
  if (tool.t === 'custom') {
    rememberCustom(flat, codec)
    set.functions.set(flat, customTool(tool, wireName(flat, codec)))
  } else set.functions.set(flat, functionTool(tool, wireName(flat, codec), request.source === 'messages', codec))
}

function functionTool(tool: Frozen<FunctionTool>, name: string, own: boolean, codec: CodecContext): Block {
  const strict = tool.strict === true && codec.caps.structuredOutputs !== false
  const { schema } = inputSchema(tool.schema)
  return {
    ...(tool.ext?.messages as JsonObject | undefined),
    name,
    ...(tool.description === undefined ? {} : { description: tool.description }),
    input_schema: own ? (tool.schema ?? schema) : strict ? outputSchema(schema) : schema,
    ...(strict ? { strict: true } : {}),
    ...(tool.deferLoading === undefined ? {} : { defer_loading: tool.deferLoading }),
    ...cacheControl(tool.cache),
  }
}

function customTool(tool: Frozen<Extract<Tool, { t: 'custom' }>>, name: string): Block {
  const format =
    tool.format === undefined || isPlainText(tool.format)
      ? ''
      : `The text in \`input\` follows this format: ${JSON.stringify(tool.format)}`
  const description = [tool.description ?? '', format].filter((line) => line !== '').join('\n')
  return {
    name,
    ...(description === '' ? {} : { description }),
    input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
  }
}

function isPlainText(format: unknown): boolean {
  return typeof format === 'object' && format !== null && 'type' in format && format.type === 'text'
}

function isWebSearch(kind: string): boolean {
  return kind.startsWith('web_search') || kind.startsWith('googleSearch')
}

function addWebSearch(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): void {
  if (request.webSearch === undefined) return
  if (set.server.some((tool) => typeof tool.type === 'string' && tool.type.startsWith('web_search'))) return
  if (codec.caps.webSearch === false) codec.warn('dropped_web_search')
  else set.server.push(webSearchTool(request.webSearch))
}

/** allowed_tools: the others are not shown; a filter that leaves nothing keeps all. */
function keepAllowed(request: Frozen<CanonicalRequest>, set: ToolSet): void {
  const choice = request.toolChoice
  if (choice?.mode !== 'allowed') return
  const kept = [...set.functions].filter(
    ([name]) => choice.names.includes(name) || choice.names.some((wanted) => name.endsWith(`__${wanted}`)),
  )
  if (kept.length > 0) set.functions = new Map(kept)
}

/** Golden 99: a history with calls needs tools, if only their names. */
function declareHistory(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): void {
  for (const message of request.messages) {
    for (const part of message.parts) {
      if (part.t !== 'tool_call') continue
      const flat = flatName(part.name, part.namespace)
      set.functions.set(flat, { name: wireName(flat, codec), input_schema: { type: 'object', properties: {} } })
    }
  }
}
