// Converts tool names and call ids to a target's alphabet one to one, and restores them on the way back.
import type { CodecContext } from '../../../core/types/request/dialect.ts'

export interface NameRule {
  /** Characters that are not allowed. */
  forbidden: RegExp
  maxLength: number
  /** Allowed first characters; other names get the prefix `_`. */
  start?: RegExp
}

/** Returns the upstream's name for a tool and records the original in `codec.names`. Two names never become one. */
export function upstreamName(name: string, rule: NameRule, codec: CodecContext): string {
  const given = givenNames(codec)
  const known = given.get(name)
  if (known !== undefined) return known
  let safe = name.replace(rule.forbidden, '_')
  if (rule.start && !rule.start.test(safe)) safe = `_${safe}`
  if (safe === '') safe = '_'
  if (safe.length > rule.maxLength || (codec.names.has(safe) && codec.names.get(safe) !== name)) {
    safe = `${safe.slice(0, rule.maxLength - 9)}_${hash8(name)}`
  }
  codec.names.set(safe, name)
  given.set(name, safe)
  return safe
}

/** The inverse of `codec.names`: a long history looks up the same few names thousands of times. */
const givenByHop = new WeakMap<CodecContext['names'], Map<string, string>>()

function givenNames({ names }: CodecContext): Map<string, string> {
  const given = givenByHop.get(names) ?? new Map<string, string>()
  givenByHop.set(names, given)
  return given
}

/** Returns the caller's name for a tool that the upstream called. */
export function callerName(name: string, codec: CodecContext): string {
  return codec.names.get(name) ?? name
}

/** Returns a call id under the target's rule, the same for the call and its result. Invalid ids are hashed. */
export function upstreamCallId(id: string, fits: RegExp, make: (hash: string) => string): string {
  return fits.test(id) ? id : make(hash16(id))
}

/** Returns 8 hex characters, the same in every process. */
export function hash8(text: string): string {
  return fnv1a(text, 0x811c9dc5).toString(16).padStart(8, '0')
}

/** Returns 16 hex characters. */
export function hash16(text: string): string {
  return hash8(text) + fnv1a(text, 0x01000193).toString(16).padStart(8, '0')
}

function fnv1a(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
