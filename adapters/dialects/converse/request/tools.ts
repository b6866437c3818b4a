// Encodes tools as `toolConfig`. Server tools of other vendors are dropped.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Frozen, JsonObject, Tool, ToolChoice } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { isObject } from '../../shared/fields.ts'
import { refuseUnmetChoice } from '../../shared/unmet-choice.ts'
import { flatName, rememberTool, wireName } from '../tool-names.ts'
import { type Block, withCachePoint } from './turns.ts'

export interface ToolPlan {
  readonly config?: JsonObject
  /** True when the model must call a tool, which thinking does not allow. */
  readonly forced: boolean
}

const FREE = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

export function encodeTools(request: Frozen<CanonicalRequest>, codec: CodecContext): ToolPlan {
  const tools = new Map<string, Block[]>()
  for (const tool of request.tools) collect(tool, null, tools, codec)
  const { toolChoice: choice } = request
  if (choice?.mode === 'allowed') keep(tools, choice.names)
  refuseUnmetChoice(request, tools.size > 0)
  if (request.parallelToolCalls === false && tools.size > 0) codec.warn('dropped_parallel_tool_calls')
  const called = calledNames(request)
  // Calls in the history need declarations, also when the caller wants no new ones.
  if (choice?.mode === 'none' && called.size === 0) return { forced: false }
  if (tools.size === 0) for (const name of called) tools.set(name, [spec(wireName(name, codec), undefined, { type: 'object' })])
  if (tools.size === 0) return { forced: false }
  const wire = choiceOf(choice, tools, request, codec)
  return {
    config: { tools: [...tools.values()].flat(), ...(wire === undefined ? {} : { toolChoice: wire }) } as unknown as JsonObject,
    forced: wire !== undefined && !('auto' in wire),
  }
}

function collect(tool: Frozen<Tool>, namespace: string | null, tools: Map<string, Block[]>, codec: CodecContext): void {
  if (tool.t === 'server') return codec.warn('dropped_tool')
  if (tool.t === 'namespace') {
    for (const inner of tool.tools) collect(inner, tool.name, tools, codec)
    return
  }
  const flat = flatName(tool.name, namespace)
  rememberTool(flat, tool.name, namespace, tool.t === 'custom', codec)
  const name = wireName(flat, codec)
  if (tool.t === 'custom') tools.set(flat, [spec(name, tool.description, FREE)])
  else tools.set(flat, withCachePoint(spec(name, tool.description, schemaOf(tool.schema)), tool.cache, codec))
}

function spec(name: string, description: string | undefined, schema: unknown): Block {
  return { toolSpec: { name, ...(description ? { description } : {}), inputSchema: { json: schema } } }
}

/** The root has to be an object. */
function schemaOf(schema: unknown): unknown {
  if (!isObject(schema)) return { type: 'object', properties: {} }
  const { $schema: _, ...rest } = schema
  return { properties: {}, ...rest, type: 'object' }
}

function choiceOf(
  choice: Frozen<ToolChoice> | undefined,
  tools: ReadonlyMap<string, unknown>,
  { source }: Frozen<CanonicalRequest>,
  codec: CodecContext,
): Record<string, unknown> | undefined {
  if (choice === undefined || choice.mode === 'none') return undefined
  if (choice.mode === 'auto') return { auto: {} }
  if (choice.mode === 'required') return { any: {} }
  if (choice.mode === 'allowed') return choice.base === 'required' ? { any: {} } : { auto: {} }
  const wanted = choice.mode === 'tool' ? choice.name : ''
  const flat = tools.has(wanted) ? wanted : [...tools.keys()].find((name) => name.endsWith(`__${wanted}`))
  if (choice.mode === 'tool' && flat !== undefined) return { tool: { name: wireName(flat, codec) } }
  throw GatewayError.unsupported(
    callerField('tool_choice', source),
    'The tool that is to be called is not available on this target.',
  )
}

function keep(tools: Map<string, unknown>, names: readonly string[]): void {
  const allowed = [...tools.keys()].filter((flat) => names.some((name) => flat === name || flat.endsWith(`__${name}`)))
  if (allowed.length > 0) for (const flat of [...tools.keys()]) if (!allowed.includes(flat)) tools.delete(flat)
}

function calledNames({ messages }: Frozen<CanonicalRequest>): Set<string> {
  const names = new Set<string>()
  for (const { parts } of messages)
    for (const part of parts) if (part.t === 'tool_call') names.add(flatName(part.name, part.namespace))
  return names
}
