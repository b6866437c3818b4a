// Scans JSON in WebAssembly, with the grammar and the limits of `core/json/json-scan.ts`, in a third of the time: it compares sixteen bytes
// of a string at once. It accepts a text or it does not; `json-scan.ts` finds the reason.
//
// This is AssemblyScript, which looks like TypeScript: `load` and `store` read and write the module's memory. `npm run gen:wasm` compiles it
// into `core/json/wasm-module.ts`.

/** The text starts here, and a zero byte follows it, so that no read needs a check of the end. */
const TEXT: usize = 0
const TEXT_BYTES: usize = 65_536
/** Room for the zero byte and for one vector that is read beyond the end. */
const RESULT: usize = TEXT + TEXT_BYTES + 64
/** Members of the top level, 20 bytes each: hash, start and end of the name, start and end of the value. */
const MEMBERS: usize = RESULT + 8
const MEMBER_BYTES: usize = 20
const MOST_MEMBERS: i32 = 256
/** Names of open objects, 12 bytes each: hash, start, end. */
const NAMES: usize = MEMBERS + MEMBER_BYTES * MOST_MEMBERS
const NAME_BYTES: usize = 12
const MOST_NAMES: i32 = 2048
/** In one object. `json-scan.ts` compares the names of larger ones as texts. */
const MOST_TOGETHER: i32 = 24
/** For each open container: the index of its first name, or -1 for an array. */
const MARKS: usize = NAMES + NAME_BYTES * MOST_NAMES
const MAX_DEPTH: i32 = 128

const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c

let depth: i32 = 0
let members: i32 = 0
let names: i32 = 0
let low: i32 = 0
let high: i32 = 0
/** The member of the top level whose value is being read; -1: none. */
let open: i32 = -1
/** Where `textEnd` ended without a closing quote. */
let stopped: usize = 0

/** Returns the number of members; -1: not accepted. The two masks of `FewNames` are then at `RESULT`. */
export function scan(length: i32, from: i32): i32 {
  store<u8>(TEXT + <usize>length, 0)
  const end: usize = TEXT + <usize>length
  depth = members = names = low = high = 0
  open = -1
  let at = skipSpace(TEXT + <usize>from)
  if (load<u8>(at) !== 0x7b) return -1
  while (true) {
    const byte = load<u8>(at)
    if (byte === 0x7b || byte === 0x5b) {
      if (depth >= MAX_DEPTH) return -1
      const isObject = byte === 0x7b
      store<i32>(MARKS + ((<usize>depth) << 2), isObject ? names : -1)
      depth++
      at = skipSpace(at + 1)
      if (load<u8>(at) === (isObject ? <u8>0x7d : <u8>0x5d)) {
        at++
        close()
      } else {
        if (isObject) {
          at = name(at)
          if (at === 0) return -1
        }
        continue
      }
    } else {
      at = byte === QUOTE ? textEnd(at + 1) : word(at)
      if (at === 0) return -1
    }
    while (true) {
      if (depth === 1 && open !== -1) {
        store<i32>(MEMBERS + MEMBER_BYTES * <usize>open, <i32>(at - TEXT), 16)
        open = -1
      }
      at = skipSpace(at)
      if (depth === 0) {
        if (at !== end) return -1
        store<i32>(RESULT, low)
        store<i32>(RESULT, high, 4)
        return members
      }
      const inObject = load<i32>(MARKS + ((<usize>(depth - 1)) << 2)) !== -1
      const next = load<u8>(at)
      if (next === 0x2c) {
        at = skipSpace(at + 1)
        if (inObject) {
          at = name(at)
          if (at === 0) return -1
        }
        break
      }
      if (next !== (inObject ? <u8>0x7d : <u8>0x5d)) return -1
      at++
      close()
    }
  }
}

function close(): void {
  const mark = load<i32>(MARKS + ((<usize>--depth) << 2))
  if (mark !== -1) names = mark
}

function skipSpace(at: usize): usize {
  while (true) {
    const byte = load<u8>(at)
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) return at
    at++
  }
}

/** Reads a name and its colon. Returns where the value starts; 0: not accepted. */
function name(start: usize): usize {
  if (load<u8>(start) !== QUOTE) return 0
  let hash: i32 = 0
  let at = start + 1
  while (true) {
    const byte = load<u8>(at++)
    if (byte <= BACKSLASH) {
      if (byte === QUOTE) break
      if (byte === BACKSLASH || byte < 0x20) return 0
    }
    hash = hash * 31 + <i32>byte
  }
  const mark = load<i32>(MARKS + ((<usize>(depth - 1)) << 2))
  if (names >= MOST_NAMES || names - mark >= MOST_TOGETHER) return 0
  const last = NAMES + NAME_BYTES * <usize>names
  for (let each = NAMES + NAME_BYTES * <usize>mark; each < last; each += NAME_BYTES) {
    if (load<i32>(each) === hash && isSame(each, start, at)) return 0
  }
  store<i32>(last, hash)
  store<i32>(last, <i32>start, 4)
  store<i32>(last, <i32>at, 8)
  names++
  low |= 1 << (hash & 31)
  high |= 1 << ((hash >>> 5) & 31)
  const end = at
  at = skipSpace(at)
  if (load<u8>(at) !== 0x3a) return 0
  at = skipSpace(at + 1)
  if (depth === 1) {
    if (members >= MOST_MEMBERS) return 0
    open = members++
    const member = MEMBERS + MEMBER_BYTES * <usize>open
    store<i32>(member, hash)
    store<i32>(member, <i32>(start - TEXT), 4)
    store<i32>(member, <i32>(end - TEXT), 8)
    store<i32>(member, <i32>(at - TEXT), 12)
  }
  return at
}

function isSame(other: usize, start: usize, end: usize): bool {
  const from = <usize>load<i32>(other, 4)
  const length = end - start
  if (<usize>load<i32>(other, 8) - from !== length) return false
  for (let i: usize = 0; i < length; i++) if (load<u8>(from + i) !== load<u8>(start + i)) return false
  return true
}

/**
 * Reads on at `from` in a string. The module has `length` bytes of its text. Returns the offset after the closing quote; `~at` for the
 * place of a fault, of an escape without its end, or of the end of these bytes.
 */
export function rest(from: i32, length: i32): i32 {
  store<u8>(TEXT + <usize>length, 0)
  const end = textEnd(TEXT + <usize>from)
  return end !== 0 ? <i32>(end - TEXT) : ~(<i32>(stopped - TEXT))
}

/** Returns the offset after the closing quote of the string in which `at` lies; 0: not accepted. */
function textEnd(at: usize): usize {
  const quotes = i8x16.splat(QUOTE)
  const slashes = i8x16.splat(BACKSLASH)
  const spaces = i8x16.splat(0x20)
  while (true) {
    const bytes = v128.load(at)
    const found = i8x16.bitmask(v128.or(v128.or(i8x16.eq(bytes, quotes), i8x16.eq(bytes, slashes)), i8x16.lt_u(bytes, spaces)))
    if (found === 0) {
      at += 16
      continue
    }
    at += <usize>ctz(found)
    if (load<u8>(at) === QUOTE) return at + 1
    const next = load<u8>(at) === BACKSLASH ? escapeEnd(at) : 0
    if (next === 0) {
      stopped = at
      return 0
    }
    at = next
  }
}

function escapeEnd(at: usize): usize {
  switch (load<u8>(at, 1)) {
    case 0x22:
    case 0x2f:
    case 0x5c:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 2
    case 0x75:
      return isHex(load<u8>(at, 2)) && isHex(load<u8>(at, 3)) && isHex(load<u8>(at, 4)) && isHex(load<u8>(at, 5)) ? at + 6 : 0
    default:
      return 0
  }
}

function isHex(byte: u8): bool {
  return isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
}

function isDigit(byte: u8): bool {
  return byte >= 0x30 && byte <= 0x39
}

function word(at: usize): usize {
  const four = load<u32>(at)
  if (four === 0x65757274) return at + 4
  if (four === 0x6c6c756e) return at + 4
  if (four === 0x736c6166) return load<u8>(at, 4) === 0x65 ? at + 5 : 0
  if (load<u8>(at) === 0x2d) at++
  if (load<u8>(at) === 0x30) at++
  else {
    at = digits(at)
    if (at === 0) return 0
  }
  if (load<u8>(at) === 0x2e) {
    at = digits(at + 1)
    if (at === 0) return 0
  }
  if ((load<u8>(at) | 0x20) === 0x65) {
    at++
    const sign = load<u8>(at)
    if (sign === 0x2b || sign === 0x2d) at++
    at = digits(at)
  }
  return at
}

/** Returns the offset after one or more digits; 0: there is none. */
function digits(at: usize): usize {
  if (!isDigit(load<u8>(at))) return 0
  do at++
  while (isDigit(load<u8>(at)))
  return at
}
