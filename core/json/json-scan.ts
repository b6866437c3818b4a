// Scans a JSON text in one linear pass before any other code reads it: grammar, depth, duplicate keys, and the spans of the top-level
// members. It uses no recursion, so deep nesting cannot overflow the stack.
import { GatewayError } from '../errors/gateway-error.ts'
import { encodeUtf8 } from '../text/bytes.ts'
import { KeyStack } from './key-stack.ts'
import { type Member, memberAt } from './member.ts'
import type { FewNames, NameRecorder } from './member-names.ts'
import { checkedRest, checkedString, malformed, skipString } from './string-scan.ts'
import { forgetPart, smallObject } from './wasm-scan.ts'

const MAX_DEPTH = 128
/** Known APIs have fewer than 100 members. The scan keeps an object and a name for each one. */
const MAX_TOP_MEMBERS = 1000
const QUOTE = 0x22
/** Bytes of a string that one step of a scan checks. */
const STRING_PART_BYTES = 1024 * 1024
/** A string counts as one more value for each 256 bytes, because its length takes time as well. */
const STEP_SHIFT = 8

/** Limits of the number of values in a text. Each value costs memory and time when it is built, and most take only two bytes of text. */
export interface ValueLimits {
  /** Objects, arrays and members, and strings in arrays. */
  readonly values: number
  /** Numbers, and words like `true`, in arrays. */
  readonly numbers: number
}

export const UNLIMITED: ValueLimits = { values: Number.POSITIVE_INFINITY, numbers: Number.POSITIVE_INFINITY }

/**
 * Validates a JSON object and returns the spans of its top-level values by key. `names` records the names of all members.
 * @throws GatewayError 400 for anything that is not one JSON object, is nested deeper than 128, repeats a key, or has too many
 * values.
 */
export function scanObject(bytes: Uint8Array, limits = UNLIMITED, names: FewNames | null = null): Map<string, Member> {
  const small = bytes.length > judgedFrom(limits) ? null : smallObject(bytes, names)
  if (small !== null) return small
  keys.reset()
  return objectScan(bytes, limits, keys, names)(Number.POSITIVE_INFINITY) as Map<string, Member>
}

/** Scans about this many further values, fewer when they are long; null: the text has more. */
export type ObjectScan = (values: number) => Map<string, Member> | null

/**
 * Makes the same scan in steps. Without `keys` it only validates: duplicate keys are allowed, and no member is returned. `names` records
 * the names of all members.
 * @throws GatewayError from each step as `scanObject` does.
 */
export function objectScan(
  bytes: Uint8Array,
  limits: ValueLimits,
  keys: KeyStack | null,
  names: NameRecorder | null = null,
): ObjectScan {
  const members = new Map<string, Member>()
  const open = keys ?? new KeyStack()
  const maxValues = limits.values
  const maxNumbers = limits.numbers
  const maxMembers = limits === UNLIMITED ? Number.POSITIVE_INFINITY : MAX_TOP_MEMBERS
  let topKey: string | null = null
  let keyStart = 0
  let from = skipSpace(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
  let valueStart = from
  let values = 0
  let numbers = 0
  /** Start of the string in which the last step ended; -1: it ended after a value. */
  let openString = -1
  return step

  function step(steps: number): Map<string, Member> | null {
    let at = from
    let left = steps
    forgetPart()
    const part = steps === Number.POSITIVE_INFINITY ? bytes.length : STRING_PART_BYTES
    if (open.depth === 0 && bytes[at] !== 0x7b) throw malformed(bytes, at, 'a JSON object is required')
    // Each turn consumes one value or one opening bracket.
    for (;;) {
      if (left-- <= 0) {
        from = at
        return null
      }
      const byte = bytes[at]
      if (openString !== -1) {
        at = checkedRest(bytes, at, part)
        if (at < 0) {
          from = ~at
          return null
        }
        if (names !== null && open.inObject) names.text(at - openString)
        openString = -1
      } else if (byte === 0x7b || byte === 0x5b) {
        if (open.depth >= MAX_DEPTH) throw GatewayError.invalid(null, `The body is nested deeper than ${MAX_DEPTH} levels.`)
        if (++values > maxValues) throw tooMany(maxValues, 'objects, arrays and members')
        const isObject = byte === 0x7b
        if (!isObject && names !== null && open.inObject) names.array()
        open.open(isObject)
        at = skipSpace(bytes, at + 1)
        if (bytes[at] === (isObject ? 0x7d : 0x5d)) {
          at++
          open.close()
        } else {
          if (isObject) at = readKey(at)
          continue
        }
      } else {
        if (!open.inObject) {
          if (byte === QUOTE) {
            if (++values > maxValues) throw tooMany(maxValues, 'objects, arrays and members')
          } else if (++numbers > maxNumbers) throw tooMany(maxNumbers, 'numbers')
        }
        const start = at
        at = byte === QUOTE ? checkedString(bytes, at, part) : skipWord(bytes, at)
        if (at < 0) {
          openString = start
          from = ~at
          return null
        }
        if (names !== null && byte === QUOTE && open.inObject) names.text(at - start)
        left -= (at - start) >> STEP_SHIFT
      }
      // After a value: close as many containers as end here, then expect the next member or element.
      for (;;) {
        if (open.depth === 1 && topKey !== null) {
          members.set(topKey, memberAt(keyStart, valueStart, at))
          topKey = null
        }
        at = skipSpace(bytes, at)
        if (open.depth === 0) {
          if (at < bytes.length) throw malformed(bytes, at, 'text after the object')
          return members
        }
        const { inObject } = open
        const next = bytes[at]
        if (next === 0x2c) {
          at = skipSpace(bytes, at + 1)
          if (inObject) at = readKey(at)
          break
        }
        if (next !== (inObject ? 0x7d : 0x5d)) throw malformed(bytes, at)
        at++
        open.close()
      }
    }
  }

  /** Returns where the member's value starts. */
  function readKey(start: number): number {
    if (bytes[start] !== QUOTE) throw malformed(bytes, start, 'a member name is missing')
    if (++values > maxValues) throw tooMany(maxValues, 'objects, arrays and members')
    const plain = keys === null ? -1 : keys.read(bytes, start)
    const end = plain === -1 ? checkedString(bytes, start) : plain
    const twice = keys === null ? null : keys.add(bytes, start, end)
    if (twice !== null) {
      throw GatewayError.invalid(twice.slice(0, 200), `The body names \`${twice.slice(0, 200)}\` twice in one object.`)
    }
    if (names !== null && keys !== null) names.name(keys.lastHash)
    const colon = skipSpace(bytes, end)
    if (bytes[colon] !== 0x3a) throw malformed(bytes, colon)
    const value = skipSpace(bytes, colon + 1)
    if (keys !== null && keys.depth === 1) {
      if (members.size >= maxMembers) throw tooMany(maxMembers, 'members at its top level')
      topKey = keys.text(bytes, start, end)
      keyStart = start
      valueStart = value
    }
    return value
  }
}

/** Returns the number of bytes below which no text can exceed the limits. */
export function judgedFrom({ values, numbers }: ValueLimits): number {
  return Math.min(values, 2 * numbers)
}

/** Checks JSON that is parsed at once. @throws GatewayError 502. */
export function checkValues(json: string, limits: ValueLimits): void {
  if (json.length <= judgedFrom(limits)) return
  try {
    objectScan(encodeUtf8(`{"":${json}}`), limits, null)(Number.POSITIVE_INFINITY)
  } catch (error) {
    // Code that reads the event reports every other fault.
    if (GatewayError.is(error) && error.code === 'too_many_values')
      throw GatewayError.protocol('The upstream sent a stream event with more values than the limit.')
  }
}

function tooMany(limit: number, what: string): GatewayError {
  return GatewayError.invalid(null, `The body has more than ${limit} ${what}. Send it in smaller parts.`, 'too_many_values')
}

/** Returns the offset after the value that starts at `at`; the text has been scanned before. */
export function skipValue(bytes: Uint8Array, at: number): number {
  let depth = 0
  for (;;) {
    const byte = bytes[at]
    if (byte === QUOTE) at = skipString(bytes, at)
    else if (byte === 0x7b || byte === 0x5b) {
      depth++
      at++
    } else if (byte === 0x7d || byte === 0x5d) {
      depth--
      at++
    } else if (byte === 0x2c || byte === 0x3a || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      at++
      continue
    } else at = skipWord(bytes, at)
    if (depth <= 0) return at
  }
}

/** Never reads beyond the end, nor does any string scan: after one such load the engine's optimized code stays slower. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  const { length } = bytes
  while (at < length) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at++
  }
  return at
}

/** Skips a number or a literal. */
export function skipWord(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]
  if (byte === 0x74) return literal(bytes, at, 'true')
  if (byte === 0x66) return literal(bytes, at, 'false')
  if (byte === 0x6e) return literal(bytes, at, 'null')
  return skipNumber(bytes, at)
}

function literal(bytes: Uint8Array, at: number, word: string): number {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word.charCodeAt(i)) throw malformed(bytes, at)
  return at + word.length
}

function skipNumber(bytes: Uint8Array, at: number): number {
  const start = at
  if (bytes[at] === 0x2d) at++
  if (bytes[at] === 0x30) at++
  else {
    if (!isDigit(bytes[at])) throw malformed(bytes, start)
    while (isDigit(bytes[at])) at++
  }
  if (bytes[at] === 0x2e) {
    if (!isDigit(bytes[++at])) throw malformed(bytes, start)
    while (isDigit(bytes[at])) at++
  }
  if (bytes[at] === 0x65 || bytes[at] === 0x45) {
    at++
    if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
    if (!isDigit(bytes[at])) throw malformed(bytes, start)
    while (isDigit(bytes[at])) at++
  }
  return at
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

/** All scans share one: they are synchronous and never nest. */
const keys = new KeyStack()
