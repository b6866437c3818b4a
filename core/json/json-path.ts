// Finds the span of a dotted path in JSON text without parsing the rest, so that edits splice bytes and the digits of untouched numbers
// survive.
import type { Json, JsonObject } from '../types/canonical.ts'
import { type Member, type Span, skipSpace, skipValue } from './json-scan.ts'
import { keyText } from './key-stack.ts'
import { skipString } from './string-scan.ts'

/** "a.b\.c.0" → ["a", "b.c", "0"]. */
export function pathSegments(path: string): string[] {
  if (!path.includes('\\')) return path.includes('.') ? path.split('.') : [path]
  const out: string[] = ['']
  for (let i = 0; i < path.length; i++) {
    const char = path[i] as string
    if (char === '\\' && path[i + 1] === '.') out.push(`${out.pop()}${path[++i]}`)
    else if (char === '.') out.push('')
    else out.push(`${out.pop()}${char}`)
  }
  return out
}

/** Returns the span of the value at `segments` below the value that starts at `at`; null when there is none. */
export function findSpan(bytes: Uint8Array, at: number, segments: readonly string[]): Span | null {
  const start = findStart(bytes, at, segments)
  return start === null ? null : { start, end: skipValue(bytes, start) }
}

/**
 * Returns the span of the value at `segments` below a scanned member. The elements of an array are found once: a history with hundreds of tool
 * calls asks for the text of each.
 */
export function spanInMember(bytes: Uint8Array, member: Member, segments: readonly string[]): Span | null {
  const [index, ...rest] = segments
  if (index === undefined || bytes[member.start] !== 0x5b || !/^\d+$/.test(index)) return findSpan(bytes, member.start, segments)
  member.elements ??= elementStarts(bytes, member.start)
  const start = member.elements[Number(index)]
  return start === undefined ? null : findSpan(bytes, start, rest)
}

function elementStarts(bytes: Uint8Array, start: number): number[] {
  const starts: number[] = []
  for (let at = skipSpace(bytes, start + 1); bytes[at] !== 0x5d; ) {
    starts.push(at)
    at = skipSpace(bytes, skipValue(bytes, at))
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  return starts
}

/** Returns where that value starts, without reading it; null when there is none. */
export function findStart(bytes: Uint8Array, at: number, segments: readonly string[]): number | null {
  let start = skipSpace(bytes, at)
  for (const segment of segments) {
    const found = child(bytes, start, segment)
    if (found === null) return null
    start = found
  }
  return start
}

function child(bytes: Uint8Array, at: number, segment: string): number | null {
  const isObject = bytes[at] === 0x7b
  if (!isObject && (bytes[at] !== 0x5b || !/^-?\d+$/.test(segment))) return null
  const starts: number[] = []
  let wanted = isObject ? -1 : Number(segment)
  at = skipSpace(bytes, at + 1)
  for (let index = 0; bytes[at] !== 0x7d && bytes[at] !== 0x5d; index++) {
    let matches = index === wanted
    if (isObject) {
      const keyEnd = skipString(bytes, at)
      matches = keyText(bytes, at, keyEnd) === segment
      at = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    }
    if (matches) return at
    if (wanted < 0) starts.push(at)
    at = skipSpace(bytes, skipValue(bytes, at))
    if (bytes[at] === 0x2c) at = skipSpace(bytes, at + 1)
  }
  if (isObject || wanted >= 0) return null
  wanted += starts.length
  return starts[wanted] ?? null
}

/** Returns the raw JSON text at a path of a JSON text. */
export function rawAt(text: string, segments: readonly (string | number)[]): string | undefined {
  const bytes = new TextEncoder().encode(text)
  const span = findSpan(bytes, 0, segments.map(String))
  return span === null ? undefined : new TextDecoder().decode(bytes.subarray(span.start, span.end))
}

/** Returns the value at a path, own members only; undefined when there is none. */
export function valueAt(root: JsonObject, path: string): Json | undefined {
  if (!path.includes('.')) return Object.hasOwn(root, path) ? root[path] : undefined
  let at: Json | undefined = root
  for (const segment of pathSegments(path)) {
    if (Array.isArray(at)) at = at.at(Number(segment))
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, segment)) at = at[segment]
    else return undefined
  }
  return at
}
