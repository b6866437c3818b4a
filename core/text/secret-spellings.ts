// Finds a secret in foreign text in every spelling that an upstream may echo: other letter case, URL and JSON escapes, base64, hexadecimal.
// A regular expression of all spellings takes V8 a tenth of a second to compile for a key of 160 characters.
import { encodeUtf8 } from './bytes.ts'

/** Fewer characters of base64 occur in ordinary text by chance. */
const MIN_BASE64 = 8
const BACKSLASH = 0x5c
const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20
/** An escape of a character begins with one of these. */
const ESCAPES = [BACKSLASH, PERCENT, PLUS]

/** One text to find. */
interface Spelling {
  /** Units of ASCII that it may begin with; null: it begins with another one. */
  readonly firsts: readonly number[] | null
  /** Returns where it ends when it begins at `at`; -1: it does not begin there. */
  endFrom(text: string, at: number): number
}

/** Spellings of secrets, by the first unit of the text. */
export class Spellings {
  readonly #byFirst: Spelling[][] = Array.from({ length: 128 }, () => [])
  readonly #others: Spelling[] = []

  constructor(secrets: readonly string[]) {
    for (const spelling of secrets.flatMap(spellingsOf)) {
      for (const first of spelling.firsts ?? ESCAPES) this.#byFirst[first]?.push(spelling)
      if (spelling.firsts === null) this.#others.push(spelling)
    }
  }

  /** Returns where the first spelling ends that begins at `at`; -1: none begins there. */
  endFrom(text: string, at: number): number {
    const unit = text.charCodeAt(at)
    const list = unit < 128 ? (this.#byFirst[unit] as Spelling[]) : this.#others
    for (let i = 0; i < list.length; i++) {
      const end = (list[i] as Spelling).endFrom(text, at)
      if (end !== -1) return end
    }
    return -1
  }
}

function spellingsOf(secret: string): Spelling[] {
  const bytes = encodeUtf8(secret)
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return [new EscapedText(secret), ...[hex, ...inBase64(bytes)].map((text) => new PlainText(text))]
}

/** A text in any letter case. */
class PlainText implements Spelling {
  readonly firsts: readonly number[] | null
  readonly #units: readonly number[]

  constructor(text: string) {
    this.#units = unitsOf(text)
    this.firsts = firstsOf(text, [])
  }

  endFrom(text: string, at: number): number {
    return plainEnd(this.#units, text, at)
  }
}

interface Character {
  readonly units: readonly number[]
  /** The same as it is in the text; JSON escapes encode these. */
  readonly exact: readonly number[]
  /** URL escapes encode these. */
  readonly bytes: readonly number[]
}

/** A text in any letter case, each character itself or one of its escapes. */
class EscapedText implements Spelling {
  readonly firsts: readonly number[] | null
  readonly #text: string
  readonly #units: readonly number[]
  /** Made for the first escape: most errors have none. */
  #characters: readonly Character[] | null = null

  constructor(text: string) {
    this.#text = text
    this.#units = unitsOf(text)
    this.firsts = firstsOf(text, ESCAPES)
  }

  endFrom(text: string, at: number): number {
    const units = this.#units
    for (let i = 0; i < units.length; i++) {
      const unit = text.charCodeAt(at + i)
      if (isEscape(unit)) return this.#endWithEscapes(text, at)
      if (upper(unit) !== units[i]) return -1
    }
    return at + units.length
  }

  /** A backslash or `%25` can be read in two ways, so there may be several places after a character. */
  #endWithEscapes(text: string, at: number): number {
    this.#characters ??= Array.from(this.#text, characterOf)
    let places = [at]
    for (const character of this.#characters) {
      const next: number[] = []
      for (const place of places) for (const end of endsOf(character, text, place)) if (!next.includes(end)) next.push(end)
      if (next.length === 0) return -1
      places = next
    }
    return Math.max(...places)
  }
}

function characterOf(character: string): Character {
  const exact = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
  return { units: unitsOf(character), exact, bytes: [...encodeUtf8(character)] }
}

function isEscape(unit: number): boolean {
  return unit === BACKSLASH || unit === PERCENT || unit === PLUS
}

function endsOf({ units, exact, bytes }: Character, text: string, at: number): number[] {
  const ends = [plainEnd(units, text, at), ...urlEnds(bytes, text, at, 0), jsonEnd(exact, text, at)]
  if (text.charCodeAt(at) === BACKSLASH) ends.push(plainEnd(units, text, at + 1))
  if (exact[0] === SPACE && text.charCodeAt(at) === PLUS) ends.push(at + 1)
  return ends.filter((end) => end !== -1)
}

function plainEnd(units: readonly number[], text: string, at: number): number {
  for (let i = 0; i < units.length; i++) if (upper(text.charCodeAt(at + i)) !== units[i]) return -1
  return at + units.length
}

/** `%41`, or `%2541` after a second encoding. */
function urlEnds(bytes: readonly number[], text: string, at: number, done: number): number[] {
  if (done === bytes.length) return [at]
  if (text.charCodeAt(at) !== PERCENT) return []
  const byte = bytes[done] as number
  const once = hexAt(text, at + 1, 2) === byte ? urlEnds(bytes, text, at + 3, done + 1) : []
  const twice = hexAt(text, at + 1, 2) === PERCENT && hexAt(text, at + 3, 2) === byte
  return twice ? [...once, ...urlEnds(bytes, text, at + 5, done + 1)] : once
}

/** `\u0041` */
function jsonEnd(exact: readonly number[], text: string, at: number): number {
  let place = at
  for (const unit of exact) {
    const escaped = text.charCodeAt(place) === BACKSLASH && (text.charCodeAt(place + 1) | SPACE) === 0x75
    if (!escaped || hexAt(text, place + 2, 4) !== unit) return -1
    place += 6
  }
  return place
}

/** Returns -1 for anything but this many digits. */
function hexAt(text: string, at: number, digits: number): number {
  let value = 0
  for (let i = at; i < at + digits; i++) {
    const unit = text.charCodeAt(i)
    const small = unit | SPACE
    if (unit >= 0x30 && unit <= 0x39) value = value * 16 + unit - 0x30
    else if (small >= 0x61 && small <= 0x66) value = value * 16 + small - 0x57
    else return -1
  }
  return value
}

function firstsOf(text: string, more: readonly number[]): readonly number[] | null {
  const lower = text.charAt(0).toLowerCase().charCodeAt(0)
  const first = upper(text.charCodeAt(0))
  return first < 128 ? [...new Set([first, lower, ...more])] : null
}

function unitsOf(text: string): number[] {
  const units: number[] = []
  for (let i = 0; i < text.length; i++) units.push(upper(text.charCodeAt(i)))
  return units
}

/** Returns the upper-case unit, the unit itself where it has none. Some letters become several units, or one of ASCII. */
function upper(unit: number): number {
  if (unit < 0x80) return unit >= 0x61 && unit <= 0x7a ? unit - 0x20 : unit
  // NaN: the text is over.
  if (!(unit >= 0x80)) return unit
  const text = String.fromCharCode(unit).toUpperCase()
  return text.length === 1 && text.charCodeAt(0) >= 0x80 ? text.charCodeAt(0) : unit
}

/** Returns substrings that every base64 text with the secret contains, at all three offsets and in both alphabets. */
function inBase64(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bits = 8 * (before + bytes.length)
    const whole = btoa(String.fromCharCode(...new Array<number>(before).fill(0), ...bytes))
    // The characters at both ends also hold bits of the neighbouring text.
    const core = whole.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
    if (core.length < MIN_BASE64) return []
    const other = core.replaceAll('+', '-').replaceAll('/', '_')
    return other === core ? [core] : [core, other]
  })
}
