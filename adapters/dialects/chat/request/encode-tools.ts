// Encodes tools, tool_choice and parallel_tool_calls for a chat upstream.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject, Tool } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import { isObject, text } from '../read.ts'
import { noteFlattened, wireToolName } from '../tool-names.ts'
import { cacheFields } from './cache-marks.ts'

type Request = Frozen<CanonicalRequest>
type Declared = { name: string; kind: 'function' | 'custom'; wire: JsonObject }

/** Returns the tool members of a request; none without tools, because every vendor answers 400 to a choice without tools. */
export function encodeToolFields(request: Request, codec: CodecContext): JsonObject {
  const declared: Declared[] = []
  const own: JsonObject[] = []
  const dropped = new Set<string>()
  for (const tool of request.tools) declare(tool, undefined, { request, codec, declared, own, dropped })
  refuseLostChoice(request, declared, dropped)
  refuseUnmetChoice(
    request,
    declared.length + own.length > 0 || (request.webSearch !== undefined && codec.caps.webSearch === true),
  )

  const { allowed, choice } = encodeChoice(request, declared, codec)
  const tools = [...allowed.map((tool) => tool.wire), ...own]
  if (tools.length === 0) return {}
  return {
    tools,
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(request.parallelToolCalls === undefined ? {} : { parallel_tool_calls: request.parallelToolCalls }),
  }
}

interface Target {
  request: Request
  codec: CodecContext
  declared: Declared[]
  own: JsonObject[]
  /** Names of tools that this upstream does not support. */
  dropped: Set<string>
}

function declare(tool: Frozen<Tool>, namespace: string | undefined, to: Target): void {
  if (tool.t === 'function') to.declared.push({ name: tool.name, kind: 'function', wire: functionTool(tool, namespace, to) })
  else if (tool.t === 'namespace') for (const inner of tool.tools) declare(inner, tool.name, to)
  else if (tool.t === 'custom') to.declared.push(customTool(tool, namespace, to))
  else if (tool.dialect === 'chat') to.own.push(tool.raw as JsonObject)
  else {
    const name = isObject(tool.raw) ? text(tool.raw.name) : undefined
    to.dropped.add(name ?? tool.kind)
    to.dropped.add(tool.kind)
    // The web search of other dialects is in `webSearch`, and its own code warns.
    if (!(to.request.webSearch !== undefined && /^(?:web_?search|google_?search)/i.test(tool.kind))) to.codec.warn('dropped_tool')
  }
}

/** Recursion is bounded by the depth of a scanned body (128). */
export function qualifiesForStrict(schema: Frozen<Json> | undefined): boolean {
  if (schema === undefined || schema === null || typeof schema !== 'object') return schema === undefined
  if (Array.isArray(schema)) return schema.every((item: Frozen<Json>) => isLeaf(item) || qualifiesForStrict(item))
  const node = schema as { readonly [key: string]: Frozen<Json> }
  const properties = node.properties
  const isObjectType =
    node.type === 'object' || (Array.isArray(node.type) && node.type.includes('object')) || properties !== undefined
  if (isObjectType && !closedAndRequired(node)) return false
  return Object.entries(node).every(([key, value]) => {
    if (KEYWORDS_OF_VALUES.has(key) || isLeaf(value)) return true
    if (KEYWORDS_OF_MAPS.has(key))
      return Object.values(value as object).every((inner) => isLeaf(inner) || qualifiesForStrict(inner))
    return qualifiesForStrict(value)
  })
}

/** Members whose content is data, not a schema. */
const KEYWORDS_OF_VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required', 'type'])
/** Members that map names to schemas: the names are not keywords. */
const KEYWORDS_OF_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])

function closedAndRequired(node: { readonly [key: string]: Frozen<Json> }): boolean {
  if (node.additionalProperties !== false) return false
  const required = Array.isArray(node.required) ? node.required : []
  const { properties } = node
  if (properties === undefined || properties === null || typeof properties !== 'object') return true
  return Object.keys(properties).every((name) => required.includes(name))
}

function isLeaf(value: Frozen<Json>): boolean {
  return value === null || typeof value !== 'object'
}

function functionTool(tool: Extract<Frozen<Tool>, { t: 'function' }>, namespace: string | undefined, to: Target): JsonObject {
  // In the responses dialect the default is strict.
  const wish = tool.strict ?? (to.request.source === 'responses' ? true : undefined)
  const strict = wish === true ? tool.schema !== undefined && qualifiesForStrict(tool.schema) : wish
  const schema = (tool.schema ?? { type: 'object', properties: {} }) as Json
  return {
    type: 'function',
    function: {
      ...((tool.ext?.chat ?? {}) as JsonObject),
      name: wireToolName(tool.name, namespace, to.codec),
      ...(tool.description === undefined ? {} : { description: tool.description }),
      parameters: schema,
      ...(strict === undefined ? {} : { strict }),
    },
    ...(to.codec.quirks.acceptsCacheControl ? cacheFields(tool.cache, to.codec) : {}),
  }
}

function customTool(tool: Extract<Frozen<Tool>, { t: 'custom' }>, namespace: string | undefined, to: Target): Declared {
  const name = wireToolName(tool.name, namespace, to.codec)
  const description: JsonObject = tool.description === undefined ? {} : { description: tool.description }
  if (to.codec.caller === 'chat') {
    const format: JsonObject = tool.format === undefined ? {} : { format: nestedFormat(tool.format as Json) }
    return { name: tool.name, kind: 'custom', wire: { type: 'custom', custom: { name, ...description, ...format } } }
  }
  noteFlattened(name, to.codec)
  const parameters = {
    type: 'object',
    properties: { input: { type: 'string', description: inputHint(tool.format as Json | undefined) } },
    required: ['input'],
    additionalProperties: false,
  }
  return { name: tool.name, kind: 'function', wire: { type: 'function', function: { name, ...description, parameters } } }
}

function nestedFormat(format: Json): Json {
  if (!isObject(format) || format.type !== 'grammar' || isObject(format.grammar)) return format
  const { type, ...grammar } = format
  return { type, grammar }
}

/** This target cannot enforce the grammar, so the tool's description contains it. */
function inputHint(format: Json | undefined): string {
  const grammar = isObject(format) ? text(format.definition) : undefined
  return grammar === undefined
    ? 'The input of the tool as free text.'
    : `The input of the tool as text that follows this grammar:\n${grammar}`
}

function refuseLostChoice(request: Request, declared: readonly Declared[], dropped: ReadonlySet<string>): void {
  const choice = request.toolChoice
  const foreign = choice?.mode === 'server' && request.source !== 'chat'
  const lost = choice?.mode === 'tool' && dropped.has(choice.name) && !declared.some((tool) => tool.name === choice.name)
  if (foreign || lost)
    throw GatewayError.unsupported(
      callerField('tool_choice', request.source),
      'The tool that is to be called does not exist here.',
    )
}

function encodeChoice(request: Request, declared: Declared[], codec: CodecContext): { allowed: Declared[]; choice?: Json } {
  const choice = request.toolChoice
  if (choice === undefined) return { allowed: declared }
  if (choice.mode === 'server') return { allowed: declared, choice: choice.raw as Json }
  if (choice.mode === 'tool') {
    const named = declared.find((tool) => tool.name === choice.name)
    return {
      allowed: declared,
      choice:
        named === undefined
          ? { type: 'function', function: { name: wireToolName(choice.name, undefined, codec) } }
          : reference(named),
    }
  }
  if (choice.mode !== 'allowed') return { allowed: declared, choice: choice.mode }
  const kept = declared.filter((tool) => choice.names.includes(tool.name))
  if (kept.length === 0) return { allowed: declared, choice: choice.base }
  // Only OpenAI supports allowed_tools; for other upstreams the remaining tools are not declared.
  if (codec.caps.family !== 'gpt' && request.source !== 'chat') return { allowed: kept, choice: choice.base }
  return {
    allowed: declared,
    choice: { type: 'allowed_tools', allowed_tools: { mode: choice.base, tools: kept.map(reference) } },
  }
}

function reference(tool: Declared): JsonObject {
  const named = (tool.wire[tool.kind] as JsonObject).name as string
  return { type: tool.kind, [tool.kind]: { name: named } }
}
