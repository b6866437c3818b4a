// Converts tool names and call ids to Bedrock's alphabet and back: sanitised names, flattened namespaces and custom tools.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { RawJson } from '../../../core/json/raw-json.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../core/types/request/dialect.ts'
import { isObject } from '../shared/fields.ts'
import { callerName, type NameRule, upstreamCallId, upstreamName } from '../shared/names.ts'

const RULE: NameRule = { forbidden: /[^a-zA-Z0-9_-]/g, maxLength: 64 }
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/
const CUSTOM = 'converse.custom'
const NAMESPACES = 'converse.namespaces'

export interface CallerTool {
  readonly name: string
  readonly namespace?: string
  readonly custom: boolean
}

export function wireName(flat: string, codec: CodecContext): string {
  return upstreamName(flat, RULE, codec)
}

export function wireCallId(id: string): string {
  return upstreamCallId(id, CALL_ID, (hash) => `tooluse_${hash}`)
}

export function flatName(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}

export function rememberTool(flat: string, name: string, namespace: string | null, custom: boolean, codec: CodecContext): void {
  if (custom) remember(CUSTOM, flat, true, codec)
  if (namespace !== null) remember(NAMESPACES, flat, [namespace, name], codec)
}

/** Returns the caller's tool for an upstream's name. */
export function callerTool(upstream: string, codec: CodecContext): CallerTool {
  const flat = callerName(upstream, codec)
  const custom = recall(CUSTOM, flat, codec) === true
  const split = recall(NAMESPACES, flat, codec)
  return Array.isArray(split) ? { name: String(split[1]), namespace: String(split[0]), custom } : { name: flat, custom }
}

/** Returns the wire `input` of a call. */
export function callInput(args: string, custom: boolean, codec: CodecContext): unknown {
  if (custom) return { input: args }
  if (args.trim() === '') return {}
  if (isObject(parsed(args))) return new RawJson(args)
  codec.warn('tool_args_wrapped')
  return { _raw: args }
}

/** Returns the plain text of a custom call that the model made as a function. */
export function plainInput(args: string): string {
  const input = parsed(args)
  return isObject(input) && typeof input.input === 'string' && Object.keys(input).length === 1 ? input.input : args
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws GatewayError.protocol */
export function objectText(value: unknown): string {
  if (value === undefined) return '{}'
  if (!isObject(value)) throw GatewayError.protocol('The upstream called a tool with input that is not an object.')
  return JSON.stringify(value)
}

function remember(note: string, key: string, value: boolean | string[], codec: CodecContext): void {
  codec.notes.set(note, { ...(codec.notes.get(note) as JsonObject | undefined), [key]: value })
}

function recall(note: string, key: string, codec: CodecContext): unknown {
  const kept = codec.notes.get(note)
  return isObject(kept) && Object.hasOwn(kept, key) ? kept[key] : undefined
}
