// The edit of a body's text that sets a value below an existing member.
import type { Json } from '../types/request/canonical.ts'
import { findSpan } from './json-path.ts'
import { skipSpace } from './json-scan.ts'

type Splice = readonly [start: number, end: number, text: string]

/**
 * Replaces the value at the path, or the deepest container on it with one that has the missing objects.
 * @param start where the member's value starts. Returns null when a scalar or an array is in the way: the path does not exist.
 */
export function nestedSplice(bytes: Uint8Array, start: number, path: readonly string[], value: Json): Splice | null {
  const whole = findSpan(bytes, start, [...path])
  if (whole !== null) return [whole.start, whole.end, JSON.stringify(value)]
  let depth = path.length - 1
  let parent = findSpan(bytes, start, path.slice(0, depth))
  while (parent === null && depth > 0) parent = findSpan(bytes, start, path.slice(0, --depth))
  const inner = path.slice(depth + 1).reduceRight<Json>((made, key) => ({ [key]: made }), value)
  const container = parent as { start: number; end: number }
  if (bytes[container.start] !== 0x7b) {
    if (!isNull(bytes, container.start)) return null
    return [container.start, container.end, JSON.stringify({ [path[depth] as string]: inner })]
  }
  const at = container.start + 1
  const empty = bytes[skipSpace(bytes, at)] === 0x7d
  return [at, at, `${JSON.stringify(path[depth])}:${JSON.stringify(inner)}${empty ? '' : ','}`]
}

/** Only `null` begins with an n. */
function isNull(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 0x6e
}
