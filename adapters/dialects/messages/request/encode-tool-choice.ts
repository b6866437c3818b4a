// Canonical choice → tool_choice with disable_parallel_tool_use.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../../../core/types/canonical.ts'
import type { CodecContext } from '../../../../core/types/dialect.ts'
import { callerField } from '../../shared/caller-field.ts'
import { isObject } from '../../shared/fields.ts'
import type { Block } from '../response/block.ts'
import { wireName } from '../tool-names.ts'

export interface ToolSet {
  /** By the caller's (flattened) name. */
  functions: Map<string, Block>
  server: Block[]
  /** The structured-output tool's wire name. */
  json?: string
}

/** Undefined when the default says the same. */
export function encodeToolChoice(request: Frozen<CanonicalRequest>, set: ToolSet, codec: CodecContext): Block | undefined {
  const choice =
    request.parallelToolCalls === false ? (chosen(request, set, codec) ?? { type: 'auto' }) : chosen(request, set, codec)
  if (choice === undefined || choice.type === 'none' || request.parallelToolCalls !== false) return choice
  return { ...choice, disable_parallel_tool_use: true }
}

/** True for a choice that a thinking model refuses. */
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

/** The answer's tool must be called, or one of the caller's before it. */
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
