// Converts tool names and call ids for the chat wire and back: namespaces are flattened, and custom tools of other dialects become
// functions with one `input`.
import type { Frozen, ToolCallPart } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'
import { callerName, type NameRule, upstreamCallId, upstreamName } from '../shared/names.ts'
import { isObject } from './read.ts'

const RULE: NameRule = { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 64 }

export function wireToolName(name: string, namespace: string | undefined, codec: CodecContext): string {
  if (namespace === undefined) return upstreamName(name, RULE, codec)
  const safe = upstreamName(`${namespace}__${name}`, RULE, codec)
  codec.notes.set(`namespace:${safe}`, { name, namespace })
  return safe
}

/** Records that this function represents a custom tool. */
export function noteFlattened(wireName: string, codec: CodecContext): void {
  codec.notes.set(`custom:${wireName}`, true)
}

export interface CallerTool {
  name: string
  namespace?: string
  /** True for a custom tool that was sent as a function. */
  flattened: boolean
}

export function callerTool(wireName: string, codec: CodecContext): CallerTool {
  const flattened = codec.notes.get(`custom:${wireName}`) === true
  const note = codec.notes.get(`namespace:${wireName}`)
  if (isObject(note)) return { name: note.name as string, namespace: note.namespace as string, flattened }
  return { name: callerName(wireName, codec), flattened }
}

/** Returns the custom tool's input from the function's arguments; the arguments themselves when the model ignored the schema. */
export function flattenedInput(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args)
    if (isObject(parsed) && typeof parsed.input === 'string') return parsed.input
  } catch {
    // Broken JSON: return the text itself.
  }
  return args
}

/** Custom tools exist on the chat wire, but few chat upstreams support them: only callers of this dialect get them natively. */
export function travelsAsFunction(call: Pick<Frozen<ToolCallPart>, 'kind'>, codec: CodecContext): boolean {
  return call.kind === 'custom' && codec.caller !== 'chat'
}

/** Returns the same id for a call and its result; ids that are too long or contain invalid characters are hashed. */
export function wireCallId(id: string, codec: CodecContext): string {
  if (codec.quirks.toolIds === 'alnum9') return upstreamCallId(id, /^[a-zA-Z0-9]{9}$/, (hash) => hash.slice(0, 9))
  return upstreamCallId(id, /^.{1,64}$/s, (hash) => `call_${hash}`)
}
