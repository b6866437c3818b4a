// Detects card numbers: 13 to 19 digits, grouped or not, with a card network's prefix and a correct check digit.
import type { Finder, Span } from '../rule.ts'

const MIN_DIGITS = 13
const MAX_DIGITS = 19
/** Digits with a separator after every third. */
const REACH = 26
/** Visa, Mastercard, Amex, Diners, Discover, JCB, UnionPay, Maestro. */
const NETWORK =
  /^(?:4|5[0-8]|6(?:0[1-9]|[2357-9]|4[4-9])|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3(?:[46-9]|0[0-5]|5(?:2[89]|[3-8])))/
/** Matches enough digits. */
const BEGINNING = /(?<![A-Za-z0-9_])\d(?:[ -]?\d){12}/g
/** Amex and Mastercard have one length each. */
const LENGTH_OF: readonly (readonly [RegExp, number])[] = [
  [/^3[47]/, 15],
  [/^(?:5[1-5]|2[2-7])/, 16],
]

export function creditCardFinder(): Finder {
  return {
    entity: 'credit_card',
    reach: REACH + 1,
    find(text, from) {
      const beginning = new RegExp(BEGINNING)
      beginning.lastIndex = from
      for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
        const span = cardAt(text, match.index)
        if (span !== null) return span
        beginning.lastIndex = match.index + 1
      }
      return null
    },
  }
}

/** Returns the longest card number that begins here. */
function cardAt(text: string, start: number): Span | null {
  let digits = ''
  let group = 0
  let separator = ''
  let found = -1
  let at = start
  for (; at < text.length; at++) {
    if (isDigit(text, at)) {
      digits += text[at]
      group++
      if (digits.length > MAX_DIGITS) break
      continue
    }
    if (isWord(text.charCodeAt(at))) break
    if (group > 0 && isCard(digits)) found = at
    const sign = text[at] as string
    if (group < 3 || (sign !== ' ' && sign !== '-') || (separator !== '' && sign !== separator)) break
    separator = sign
    group = 0
  }
  if (at === text.length && isCard(digits) && isDigit(text, at - 1)) found = at
  return found === -1 ? null : { start, end: found, read: at + 1 }
}

function isCard(digits: string): boolean {
  const { length } = digits
  if (length < MIN_DIGITS || length > MAX_DIGITS || !NETWORK.test(digits)) return false
  return length === (LENGTH_OF.find(([prefix]) => prefix.test(digits))?.[1] ?? length) && luhn(digits)
}

/** Checks the check digit (ISO/IEC 7812). */
function luhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    let digit = digits.charCodeAt(digits.length - 1 - i) - 0x30
    if (i % 2 === 1) {
      digit *= 2
      if (digit > 9) digit -= 9
    }
    sum += digit
  }
  return sum % 10 === 0
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0x30 && code <= 0x39
}

function isWord(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
}
