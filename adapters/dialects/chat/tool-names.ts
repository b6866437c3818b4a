// Tool names and call ids on the chat wire, and the way back: namespaces are flattened, custom tools of other dialects
// become functions with one `input`.
import type { Frozen, ToolCallPart } from '../../../core/types/canonical.ts'
import type { Hop } from '../../../core/types/dialect.ts'
import { callerName, type NameRule, upstreamCallId, upstreamName } from '../shared/names.ts'
import { isObject } from './read.ts'

const RULE: NameRule = { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 64 }

export function wireToolName(name: string, namespace: string | undefined, hop: Hop): string {
  if (namespace === undefined) return upstreamName(name, RULE, hop)
  const safe = upstreamName(`${namespace}__${name}`, RULE, hop)
  hop.notes.set(`namespace:${safe}`, { name, namespace })
  return safe
}

/** Remembers that this function stands for a custom tool. */
export function noteFlattened(wireName: string, hop: Hop): void {
  hop.notes.set(`custom:${wireName}`, true)
}

export interface CallerTool {
  name: string
  namespace?: string
  /** A custom tool that travelled as a function. */
  flattened: boolean
}

export function callerTool(wireName: string, hop: Hop): CallerTool {
  const flattened = hop.notes.get(`custom:${wireName}`) === true
  const note = hop.notes.get(`namespace:${wireName}`)
  if (isObject(note)) return { name: note.name as string, namespace: note.namespace as string, flattened }
  return { name: callerName(wireName, hop), flattened }
}

/** The custom tool's input inside the function's arguments; the text itself when the model did not keep to the schema. */
export function flattenedInput(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args)
    if (isObject(parsed) && typeof parsed.input === 'string') return parsed.input
  } catch {
    // Broken JSON: the text is all there is.
  }
  return args
}

/** Custom tools exist on the chat wire, but few chat upstreams know them: only callers of this dialect get them natively. */
export function travelsAsFunction(call: Pick<Frozen<ToolCallPart>, 'kind'>, hop: Hop): boolean {
  return call.kind === 'custom' && hop.caller !== 'chat'
}

/** The same id for a call and its result; too long or unfit ones are hashed alike. */
export function wireCallId(id: string, hop: Hop): string {
  if (hop.quirks.toolIds === 'alnum9') return upstreamCallId(id, /^[a-zA-Z0-9]{9}$/, (hash) => hash.slice(0, 9))
  return upstreamCallId(id, /^.{1,64}$/s, (hash) => `call_${hash}`)
}
