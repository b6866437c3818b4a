// Encodes canonical tools and choice as tools[] and toolConfig. Declarations are rebuilt, so that no other vendor's key is sent.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject, Tool } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import { isObject } from '../fields.ts'
import { declareName, flatName, rememberCustom, rememberNamespace } from '../tool-names.ts'
import { parametersJsonSchema } from './schema-json.ts'
import { legacyParameters } from './schema-legacy.ts'

export interface EncodedTools {
  tools: JsonObject[]
  toolConfig: JsonObject | undefined
  hasFunctions: boolean
}

interface Collected {
  /** By the caller's flattened name. */
  functions: Map<string, JsonObject>
  server: Map<string, JsonObject>
}

export function encodeTools(request: Frozen<CanonicalRequest>, codec: CodecContext): EncodedTools {
  const collected: Collected = { functions: new Map(), server: new Map() }
  for (const tool of request.tools) collect(tool, null, collected, codec)
  addWebSearch(request, collected, codec)
  refuseUnmetChoice(request, collected.functions.size + collected.server.size > 0)
  const own = request.ext.generate_content?.toolConfig
  const toolConfig: JsonObject = isObject(own) ? { ...own } : {}
  delete toolConfig.functionCallingConfig
  const hasFunctions = collected.functions.size > 0
  if (hasFunctions) {
    toolConfig.functionCallingConfig = callingConfig(
      request,
      collected,
      isObject(own) ? own.functionCallingConfig : undefined,
      codec,
    )
    if (Object.keys(toolConfig.functionCallingConfig as JsonObject).length === 0) delete toolConfig.functionCallingConfig
    if (request.parallelToolCalls === false) codec.warn('dropped_parallel_tool_calls')
    combine(collected, toolConfig, codec)
  } else if (request.toolChoice?.mode === 'tool' || request.toolChoice?.mode === 'server') {
    if (request.tools.length > 0) throw cannotForce(request)
  }
  const tools = [...collected.server.values()]
  if (hasFunctions) tools.unshift({ functionDeclarations: [...collected.functions.values()] })
  return { tools, toolConfig: Object.keys(toolConfig).length === 0 || tools.length === 0 ? undefined : toolConfig, hasFunctions }
}

function collect(tool: Frozen<Tool>, namespace: string | null, into: Collected, codec: CodecContext): void {
  if (tool.t === 'function') {
    const name = flatName(tool.name, namespace)
    if (namespace !== null) rememberNamespace(name, tool.name, namespace, codec)
    const ext = tool.ext?.generate_content as JsonObject | undefined
    into.functions.set(name, { ...ext, ...declaration(name, tool.description, codec), ...parameters(tool.schema, codec) })
  } else if (tool.t === 'custom') {
    const name = flatName(tool.name, namespace)
    if (namespace !== null) rememberNamespace(name, tool.name, namespace, codec)
    rememberCustom(name, codec)
    const schema: JsonObject = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }
    into.functions.set(name, { ...declaration(name, customDescription(tool), codec), ...parameters(schema, codec) })
  } else if (tool.t === 'namespace') {
    for (const inner of tool.tools) collect(inner, tool.name, into, codec)
  } else {
    collectServer(tool, into, codec)
  }
}

function collectServer(tool: Frozen<Extract<Tool, { t: 'server' }>>, into: Collected, codec: CodecContext): void {
  if (tool.dialect === 'generate_content') into.server.set(tool.kind, tool.raw as JsonObject)
  else if (tool.kind.startsWith('web_search')) {
    if (codec.caps.webSearch !== false) into.server.set('googleSearch', { googleSearch: {} })
    else codec.warn('dropped_web_search')
  } else if (tool.kind.startsWith('code_execution')) into.server.set('codeExecution', { codeExecution: {} })
  else codec.warn('dropped_tool')
}

function addWebSearch(request: Frozen<CanonicalRequest>, into: Collected, codec: CodecContext): void {
  const { webSearch } = request
  if (webSearch === undefined || into.server.has('googleSearchRetrieval')) return
  if (codec.caps.webSearch === false) {
    into.server.delete('googleSearch')
    codec.warn('dropped_web_search')
    return
  }
  if (!into.server.has('googleSearch')) into.server.set('googleSearch', { googleSearch: {} })
  if (request.source !== 'generate_content' && (webSearch.allowedDomains?.length || webSearch.blockedDomains?.length)) {
    codec.warn('dropped_web_search_domains')
  }
}

/** Server tools together with functions: refused before Gemini 3, declared from then on. */
function combine(collected: Collected, toolConfig: JsonObject, codec: CodecContext): void {
  if (collected.server.size === 0) return
  if (codec.caps.thoughtSignature === false) {
    collected.server.clear()
    codec.warn('dropped_tool')
  } else if (codec.caps.thoughtSignature === true && !codec.quirks.noFunctionIds) {
    // Vertex does not have this field.
    toolConfig.includeServerSideToolInvocations = true
  }
}

function declaration(name: string, description: string | undefined, codec: CodecContext): JsonObject {
  return { name: declareName(name, codec), ...(description === undefined ? {} : { description }) }
}

function parameters(schema: Frozen<Json> | undefined, codec: CodecContext): JsonObject {
  if (codec.caps.jsonSchema === false) {
    const legacy = legacyParameters(schema)
    return legacy === null ? {} : { parameters: legacy }
  }
  const plain = parametersJsonSchema(schema)
  return plain === null ? {} : { parametersJsonSchema: plain }
}

function customDescription(tool: Frozen<Extract<Tool, { t: 'custom' }>>): string | undefined {
  if (tool.format === undefined || (isObject(tool.format) && tool.format.type === 'text')) return tool.description
  return `${tool.description ?? ''}\nThe input must follow this format: ${JSON.stringify(tool.format)}`.trimStart()
}

function callingConfig(
  request: Frozen<CanonicalRequest>,
  collected: Collected,
  own: Json | undefined,
  codec: CodecContext,
): JsonObject {
  const base: JsonObject = isObject(own) ? { ...own } : {}
  const validated = base.mode === 'VALIDATED'
  delete base.mode
  const choice = request.toolChoice
  if (choice === undefined) return base
  if (choice.mode === 'server') throw cannotForce(request)
  if (choice.mode === 'tool') {
    if (!collected.functions.has(choice.name)) throw cannotForce(request)
    return { ...base, mode: 'ANY', allowedFunctionNames: [declareName(choice.name, codec)] }
  }
  if (choice.mode === 'allowed') return { ...base, ...allowed(choice, collected, codec) }
  if (choice.mode === 'auto') return { ...base, mode: validated ? 'VALIDATED' : 'AUTO' }
  return { ...base, mode: choice.mode === 'none' ? 'NONE' : 'ANY' }
}

function allowed(
  choice: { base: 'auto' | 'required'; names: readonly string[] },
  collected: Collected,
  codec: CodecContext,
): JsonObject {
  const names = choice.names.filter((name) => collected.functions.has(name))
  const plain = choice.base === 'required' ? 'ANY' : 'AUTO'
  // A filter that would remove everything keeps everything.
  if (names.length === 0) return { mode: plain }
  if (choice.base === 'auto' && codec.caps.jsonSchema === false) {
    // VALIDATED exists since 2.5; for earlier models the list itself is shortened.
    for (const name of collected.functions.keys()) if (!names.includes(name)) collected.functions.delete(name)
    return { mode: 'AUTO' }
  }
  return {
    mode: choice.base === 'required' ? 'ANY' : 'VALIDATED',
    allowedFunctionNames: names.map((name) => declareName(name, codec)),
  }
}

function cannotForce({ source }: Frozen<CanonicalRequest>): GatewayError {
  const field = callerField('tool_choice', source)
  return GatewayError.unsupported(field, 'The tool that is to be called is not available on this target.')
}
