// Converts function names to Gemini's alphabet and back: sanitised names, flattened namespaces, custom tools.
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'
import { callerName, type NameRule, upstreamName } from '../shared/names.ts'

const RULE: NameRule = { forbidden: /[^A-Za-z0-9_.:-]/g, maxLength: 128, start: /^[A-Za-z_]/ }
/** Older backends and Vertex accept only shorter names. */
const SHORT_RULE: NameRule = { ...RULE, maxLength: 63 }
const CUSTOM = 'generate_content.custom'
const NAMESPACES = 'generate_content.namespaces'

export interface CallerTool {
  name: string
  namespace?: string
  custom: boolean
}

/** Returns the upstream's name for a flat name; it is the same at every use. */
export function declareName(name: string, codec: CodecContext): string {
  const short = codec.caps.jsonSchema === false || codec.quirks.noFunctionIds === true
  return upstreamName(name, short ? SHORT_RULE : RULE, codec)
}

export function flatName(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}

export function rememberNamespace(flat: string, name: string, namespace: string, codec: CodecContext): void {
  note(NAMESPACES, codec)[flat] = [namespace, name]
}

export function rememberCustom(flat: string, codec: CodecContext): void {
  note(CUSTOM, codec)[flat] = true
}

/** Returns the caller's tool for an upstream's name. */
export function callerTool(upstream: string, codec: CodecContext): CallerTool {
  const flat = callerName(upstream, codec)
  const custom = own(codec.notes.get(CUSTOM), flat) === true
  const split = own(codec.notes.get(NAMESPACES), flat)
  if (!Array.isArray(split)) return { name: flat, custom }
  return { name: split[1] as string, namespace: split[0] as string, custom }
}

function own(note: unknown, key: string): unknown {
  return typeof note === 'object' && note !== null && Object.hasOwn(note, key) ? (note as JsonObject)[key] : undefined
}

function note(key: string, codec: CodecContext): JsonObject {
  const known = codec.notes.get(key)
  if (known !== undefined) return known as JsonObject
  const made = Object.create(null) as JsonObject
  codec.notes.set(key, made)
  return made
}
