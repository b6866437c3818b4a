// Converts tool names and call ids to this API's alphabet and back: sanitised names, flattened namespaces, custom tools, and the tool
// that replaces structured output.
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'
import { isObject } from '../shared/fields.ts'
import { callerName, type NameRule, upstreamCallId, upstreamName } from '../shared/names.ts'

const RULE: NameRule = { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 128 }
const CALL_ID = /^[a-zA-Z0-9_-]+$/
const CUSTOM = 'messages.custom'
const NAMESPACES = 'messages.namespaces'
const JSON_TOOL = 'messages.json_tool'

export interface CallerTool {
  name: string
  namespace?: string
  custom: boolean
}

export interface JsonTool {
  name: string
  /** The schema's root was not an object: the value is the tool's only property. */
  wrapped: boolean
}

export function wireName(flat: string, codec: CodecContext): string {
  return upstreamName(flat, RULE, codec)
}

export function wireCallId(id: string): string {
  return upstreamCallId(id, CALL_ID, (hash) => `toolu_${hash}`)
}

export function flatName(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}

export function rememberCustom(flat: string, codec: CodecContext): void {
  remember(CUSTOM, flat, true, codec)
}

export function rememberNamespace(flat: string, name: string, namespace: string, codec: CodecContext): void {
  remember(NAMESPACES, flat, [namespace, name], codec)
}

/** Returns the caller's tool for an upstream's name. */
export function callerTool(upstream: string, codec: CodecContext): CallerTool {
  const flat = callerName(upstream, codec)
  const custom = recall(CUSTOM, flat, codec) === true
  const split = recall(NAMESPACES, flat, codec)
  return Array.isArray(split) ? { name: String(split[1]), namespace: String(split[0]), custom } : { name: flat, custom }
}

/** Reserves a name for the structured-output tool that no tool of the caller has. */
export function declareJsonTool(wrapped: boolean, taken: (name: string) => boolean, codec: CodecContext): string {
  let name = 'json_output'
  while (taken(name)) name += '_'
  codec.notes.set(JSON_TOOL, { name, wrapped })
  return name
}

export function jsonTool(codec: CodecContext): JsonTool | null {
  const note = codec.notes.get(JSON_TOOL)
  return isObject(note) ? { name: String(note.name), wrapped: note.wrapped === true } : null
}

function remember(note: string, key: string, value: boolean | string[], codec: CodecContext): void {
  codec.notes.set(note, { ...(codec.notes.get(note) as JsonObject | undefined), [key]: value })
}

function recall(note: string, key: string, codec: CodecContext): unknown {
  const kept = codec.notes.get(note)
  return isObject(kept) && Object.hasOwn(kept, key) ? kept[key] : undefined
}
