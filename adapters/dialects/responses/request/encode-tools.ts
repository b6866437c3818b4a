// Encodes canonical tools and choice in the flat wire form, for an upstream and for the echo in an answer.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, FunctionTool, Json, Tool, ToolChoice } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { isObject } from '../../shared/fields.ts'
import { type NameRule, upstreamName } from '../../shared/names.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import { isWebSearch } from './decode-tools.ts'
import { isStrictSchema } from './strict-schema.ts'

const NAMES: NameRule = { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 64 }

/** Returns the name for the upstream. A responses caller's name already fits this API. */
export function toolName(name: string, request: Frozen<CanonicalRequest>, codec: CodecContext): string {
  return request.source === 'responses' ? name : upstreamName(name, NAMES, codec)
}

export function encodeTools(request: Frozen<CanonicalRequest>, codec: CodecContext): object[] {
  const out: object[] = []
  for (const tool of request.tools) {
    const wire = upstreamTool(tool, request, codec)
    if (wire !== null) out.push(wire)
  }
  const ownSearch = request.tools.some((tool) => tool.t === 'server' && tool.dialect === 'responses' && isWebSearch(tool.kind))
  if (request.webSearch !== undefined && !ownSearch) {
    if (codec.caps.webSearch === false) codec.warn('dropped_web_search')
    else out.push(webSearchTool(request.webSearch, codec))
  }
  refuseUnmetChoice(request, out.length > 0)
  if (codec.quirks.maxTools !== undefined && out.length > codec.quirks.maxTools) {
    throw GatewayError.unsupported('tools', `This upstream takes at most ${codec.quirks.maxTools} tools.`)
  }
  return out
}

export function encodeToolChoice(choice: Frozen<ToolChoice>, request: Frozen<CanonicalRequest>, codec: CodecContext): Json {
  switch (choice.mode) {
    case 'tool': {
      const tool = find(request.tools, choice.name)
      const server = request.tools.find(
        (one) => one.t === 'server' && one.dialect !== 'responses' && serverName(one.raw) === choice.name,
      )
      if (tool === undefined && server !== undefined) {
        throw GatewayError.unsupported(
          callerField('tool_choice', request.source),
          `The tool \`${choice.name}\` does not exist at this upstream.`,
        )
      }
      return { type: tool?.t === 'custom' ? 'custom' : 'function', name: toolName(choice.name, request, codec) }
    }
    case 'allowed': {
      const tools = choice.names.map((name) => allowed(name, request, codec)).filter((one) => one !== null)
      return tools.length === 0 ? choice.base : { type: 'allowed_tools', mode: choice.base, tools }
    }
    case 'server':
      if (request.source === 'responses') return choice.raw as Json
      if (request.webSearch !== undefined && isObject(choice.raw) && isWebSearch(serverName(choice.raw)))
        return { type: 'web_search' }
      throw GatewayError.unsupported(
        callerField('tool_choice', request.source),
        'The tool that is to be called does not exist at this upstream.',
      )
    case 'required':
      return codec.quirks.toolChoiceRequired ?? 'required'
    default:
      return choice.mode
  }
}

/** Returns the tools as the API echoes them, with every member that strict parsers need. */
export function echoTools(request: Frozen<CanonicalRequest> | null): Json[] {
  return (request?.tools ?? []).map(echoTool)
}

export function echoToolChoice(request: Frozen<CanonicalRequest> | null): Json {
  const choice = request?.toolChoice
  if (request === null || choice === undefined) return 'auto'
  if (choice.mode === 'server') return choice.raw as Json
  if (choice.mode === 'tool')
    return { type: find(request.tools, choice.name)?.t === 'custom' ? 'custom' : 'function', name: choice.name }
  if (choice.mode !== 'allowed') return choice.mode
  const tools = choice.names.map((name) => allowedEcho(name, request)).filter((one) => one !== null)
  return { type: 'allowed_tools', mode: choice.base, tools }
}

function upstreamTool(tool: Frozen<Tool>, request: Frozen<CanonicalRequest>, codec: CodecContext): object | null {
  switch (tool.t) {
    case 'function':
      return {
        ...(request.source === 'responses' ? tool.ext?.responses : undefined),
        type: 'function',
        name: toolName(tool.name, request, codec),
        ...(tool.description === undefined ? {} : { description: tool.description }),
        parameters: tool.schema ?? { type: 'object', properties: {} },
        strict: strictOf(tool, request),
        ...(tool.deferLoading ? { defer_loading: true } : {}),
      }
    case 'custom':
      return { type: 'custom', name: toolName(tool.name, request, codec), ...customRest(tool) }
    case 'namespace':
      return {
        type: 'namespace',
        name: tool.name,
        description: tool.description,
        tools: tool.tools.map((inner) => upstreamTool(inner, request, codec)).filter((inner) => inner !== null),
      }
    case 'server':
      if (tool.dialect === 'responses') return tool.raw as object
      if (!(isWebSearch(tool.kind) && request.webSearch !== undefined)) codec.warn('dropped_tool')
      return null
  }
}

/**
 * Always explicit, because this API treats a missing one as true. A schema of another dialect that cannot be strict is sent as not
 * strict.
 */
function strictOf(tool: Frozen<FunctionTool>, request: Frozen<CanonicalRequest>): boolean {
  return tool.strict === true && (request.source === 'responses' || isStrictSchema(tool.schema))
}

function customRest(tool: Frozen<Extract<Tool, { t: 'custom' }>>): object {
  return {
    ...(tool.description === undefined ? {} : { description: tool.description }),
    ...(tool.format === undefined ? {} : { format: tool.format }),
  }
}

function webSearchTool(search: Frozen<NonNullable<CanonicalRequest['webSearch']>>, codec: CodecContext): object {
  if (search.blockedDomains !== undefined && search.blockedDomains.length > 0) codec.warn('dropped_blocked_domains')
  const location = search.userLocation
  // chat nests the location one level deeper.
  const place = isObject(location) && isObject(location.approximate) ? { type: 'approximate', ...location.approximate } : location
  return {
    type: 'web_search',
    ...(search.contextSize === undefined ? {} : { search_context_size: search.contextSize }),
    ...(place === undefined ? {} : { user_location: place }),
    ...(search.allowedDomains === undefined || search.allowedDomains.length === 0
      ? {}
      : { filters: { allowed_domains: search.allowedDomains } }),
  }
}

function find(tools: readonly Frozen<Tool>[], name: string): Frozen<Tool> | undefined {
  for (const tool of tools) {
    if (tool.t === 'namespace') {
      const inner = find(tool.tools, name)
      if (inner !== undefined) return inner
    } else if (tool.t !== 'server' && tool.name === name) return tool
  }
  return undefined
}

function allowed(name: string, request: Frozen<CanonicalRequest>, codec: CodecContext): Json | null {
  const entry = allowedEcho(name, request)
  return isObject(entry) && typeof entry.name === 'string' ? { ...entry, name: toolName(entry.name, request, codec) } : entry
}

function allowedEcho(name: string, request: Frozen<CanonicalRequest>): Json | null {
  const tool = find(request.tools, name)
  if (tool !== undefined) return { type: tool.t === 'custom' ? 'custom' : 'function', name }
  const server = request.tools.find((one) => one.t === 'server' && one.dialect === 'responses' && one.kind === name)
  if (server?.t !== 'server') return null
  const label = isObject(server.raw) ? server.raw.server_label : undefined
  return { type: name, ...(label === undefined ? {} : { server_label: label }) }
}

function echoTool(tool: Frozen<Tool>): Json {
  if (tool.t === 'server') return tool.raw as Json
  if (tool.t === 'custom') return { type: 'custom', name: tool.name, ...customRest(tool) }
  if (tool.t === 'namespace')
    return { type: 'namespace', name: tool.name, description: tool.description, tools: tool.tools.map(echoTool) }
  return {
    ...(tool.ext?.responses as { [key: string]: Json } | undefined),
    type: 'function',
    name: tool.name,
    description: tool.description ?? null,
    parameters: (tool.schema ?? null) as Json,
    strict: tool.strict ?? false,
  }
}

function serverName(raw: Frozen<Json>): string {
  if (!isObject(raw)) return ''
  return typeof raw.name === 'string' ? raw.name : typeof raw.type === 'string' ? raw.type : ''
}
