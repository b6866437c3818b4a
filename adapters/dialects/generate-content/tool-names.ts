// Function names under Gemini's alphabet, and the way back: sanitised names, flattened namespaces, custom tools.
import type { JsonObject } from '../../../core/types/canonical.ts'
import type { Hop } from '../../../core/types/dialect.ts'
import { callerName, type NameRule, upstreamName } from '../shared/names.ts'

const RULE: NameRule = { forbidden: /[^A-Za-z0-9_.:-]/g, maxLength: 128, start: /^[A-Za-z_]/ }
/** Older backends and Vertex take shorter names. */
const SHORT_RULE: NameRule = { ...RULE, maxLength: 63 }
const CUSTOM = 'generate_content.custom'
const NAMESPACES = 'generate_content.namespaces'

export interface CallerTool {
  name: string
  namespace?: string
  custom: boolean
}

/** The upstream's name for a flat name, the same at every use. */
export function declareName(name: string, hop: Hop): string {
  const short = hop.caps.jsonSchema === false || hop.quirks.noFunctionIds === true
  return upstreamName(name, short ? SHORT_RULE : RULE, hop)
}

export function flatName(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}

export function rememberNamespace(flat: string, name: string, namespace: string, hop: Hop): void {
  note(NAMESPACES, hop)[flat] = [namespace, name]
}

export function rememberCustom(flat: string, hop: Hop): void {
  note(CUSTOM, hop)[flat] = true
}

/** The caller's name of the tool that the upstream names. */
export function callerTool(upstream: string, hop: Hop): CallerTool {
  const flat = callerName(upstream, hop)
  const custom = own(hop.notes.get(CUSTOM), flat) === true
  const split = own(hop.notes.get(NAMESPACES), flat)
  if (!Array.isArray(split)) return { name: flat, custom }
  return { name: split[1] as string, namespace: split[0] as string, custom }
}

function own(note: unknown, key: string): unknown {
  return typeof note === 'object' && note !== null && Object.hasOwn(note, key) ? (note as JsonObject)[key] : undefined
}

function note(key: string, hop: Hop): JsonObject {
  const known = hop.notes.get(key)
  if (known !== undefined) return known as JsonObject
  const made = Object.create(null) as JsonObject
  hop.notes.set(key, made)
  return made
}
