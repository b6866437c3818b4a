// Encodes canonical tools as tools[]. The dialect's own typed tools stay raw; those of other dialects are dropped.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type {
  CanonicalRequest,
  Dialect,
  Frozen,
  FunctionTool,
  JsonObject,
  Tool,
} from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { isObject } from '../../shared/fields.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import type { Block } from '../response/block.ts'
import { declareJsonTool, flatName, rememberCustom, rememberNamespace, wireName } from '../tool-names.ts'
import { cacheControl } from './encode-blocks.ts'
import type { OutputPlan } from './encode-output.ts'
import { inputSchema, outputSchema } from './schemas.ts'

export interface EncodedTools {
  tools: Block[]
  toolChoice?: Block
}

// The tools of a request while they are collected.
interface ToolSet {
  /** By the caller's flattened name. */
  functions: Map<string, Block>
  server: Block[]
  /** The structured-output tool's wire name. */
  json?: string
}

/** Returns tool_choice with disable_parallel_tool_use; undefined when it equals the default. */
function encodeToolChoice(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): Block | undefined {
  const choice =
    request.parallelToolCalls === false ? (chosen(request, set, codec) ?? { type: 'auto' }) : chosen(request, set, codec)
  if (choice === undefined || choice.type === 'none' || request.parallelToolCalls !== false) return choice
  return { ...choice, disable_parallel_tool_use: true }
}

/** Returns whether a thinking model refuses the choice. */
export function isForced(choice: Block | undefined): boolean {
  return choice?.type === 'any' || choice?.type === 'tool'
}

function chosen(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): Block | undefined {
  const choice = request.toolChoice
  const json = set.json === undefined ? undefined : structured(set)
  if (choice === undefined) return json
  switch (choice.mode) {
    case 'none':
      return set.json === undefined ? { type: 'none' } : { type: 'tool', name: set.json }
    case 'auto':
      return json ?? { type: 'auto' }
    case 'required':
      return { type: 'any' }
    case 'allowed':
      return choice.base === 'required' ? { type: 'any' } : (json ?? { type: 'auto' })
    case 'tool':
      return { type: 'tool', name: nameOf(choice.name, set, codec) }
    case 'server':
      return serverChoice(choice.raw, request, set)
  }
}

/** The model must call the answer's tool, or one of the caller's tools before it. */
function structured(set: ToolSet): Block {
  const others = set.functions.size + set.server.length
  return others > 0 ? { type: 'any' } : { type: 'tool', name: set.json }
}

function nameOf(wanted: string, set: ToolSet, codec: CodecContext): string {
  const flat = set.functions.has(wanted) ? wanted : [...set.functions.keys()].find((name) => name.endsWith(`__${wanted}`))
  if (flat !== undefined) return wireName(flat, codec)
  if (set.server.some((tool) => tool.name === wanted)) return wanted
  throw cannotForce(codec.caller)
}

function serverChoice(raw: unknown, request: Frozen<CanonicalRequest>, set: ToolSet): Block {
  if (isObject(raw)) {
    const { disable_parallel_tool_use: _, ...own } = raw
    if (request.source === 'messages') return own
    const search = set.server.find((tool) => tool.name === 'web_search')
    if (search !== undefined && String(raw.type).startsWith('web_search')) return { type: 'tool', name: 'web_search' }
  }
  throw cannotForce(request.source)
}

function cannotForce(caller: Dialect): GatewayError {
  const field = callerField('tool_choice', caller)
  return GatewayError.unsupported(field, 'The tool that is to be called is not available on this target.')
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
  // Calls in the history need declarations, but the caller requested no new calls.
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
    // The common form of web search is `request.webSearch`.
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

// The only server tool that is mapped across dialects: web search in its common form becomes this vendor's tool.
function webSearchTool(search: Frozen<NonNullable<CanonicalRequest['webSearch']>>): Block {
  const location = userLocation(search.userLocation)
  const allowed = search.allowedDomains ?? []
  const blocked = search.blockedDomains ?? []
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(search.maxUses === undefined ? {} : { max_uses: search.maxUses }),
    // The API accepts only one of the two lists.
    ...(allowed.length > 0 ? { allowed_domains: allowed } : blocked.length > 0 ? { blocked_domains: blocked } : {}),
    ...(location === null ? {} : { user_location: location }),
  }
}

/** chat nests the location under `approximate`; responses and this API do not. */
function userLocation(value: unknown): JsonObject | null {
  if (!isObject(value)) return null
  const place = isObject(value.approximate) ? value.approximate : value
  const known = ['city', 'region', 'country', 'timezone'].filter((key) => typeof place[key] === 'string')
  if (known.length === 0) return null
  return { type: 'approximate', ...Object.fromEntries(known.map((key) => [key, place[key] as string])) }
}

function addWebSearch(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): void {
  if (request.webSearch === undefined) return
  if (set.server.some((tool) => typeof tool.type === 'string' && tool.type.startsWith('web_search'))) return
  if (codec.caps.webSearch === false) codec.warn('dropped_web_search')
  else set.server.push(webSearchTool(request.webSearch))
}

/** allowed_tools: the other tools are not sent. A filter that would remove everything keeps everything. */
function keepAllowed(request: Frozen<CanonicalRequest>, set: ToolSet): void {
  const choice = request.toolChoice
  if (choice?.mode !== 'allowed') return
  const kept = [...set.functions].filter(
    ([name]) => choice.names.includes(name) || choice.names.some((wanted) => name.endsWith(`__${wanted}`)),
  )
  if (kept.length > 0) set.functions = new Map(kept)
}

/** A history with calls needs tool declarations, at least their names. */
function declareHistory(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): void {
  for (const message of request.messages) {
    for (const part of message.parts) {
      if (part.t !== 'tool_call') continue
      const flat = flatName(part.name, part.namespace)
      set.functions.set(flat, { name: wireName(flat, codec), input_schema: { type: 'object', properties: {} } })
    }
  }
}
