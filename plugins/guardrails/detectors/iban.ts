// Detects international bank account numbers: country, length, and the check of ISO 13616.
import type { Finder, Span } from '../rule.ts'

/** Number of characters by country. */
const LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 ' +
    'LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 ' +
    'RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
)
const HEAD = /(?<![A-Za-z0-9])[A-Za-z]{2}\d\d/g
const ALPHANUMERIC = /[A-Za-z0-9]/
/** The longest one with a space after every fourth character. */
const REACH = 44

export function ibanFinder(): Finder {
  return { entity: 'iban', reach: REACH, find: findIban }
}

function findIban(text: string, from: number): Span | null {
  const head = new RegExp(HEAD)
  head.lastIndex = from
  for (let match = head.exec(text); match !== null; match = head.exec(text)) {
    const length = LENGTHS.get(match[0].slice(0, 2).toUpperCase())
    const span = length === undefined ? null : accountAt(text, match.index, length)
    if (span !== null) return span
    head.lastIndex = match.index + 1
  }
  return null
}

function accountAt(text: string, start: number, length: number): Span | null {
  let account = ''
  let at = start
  for (; account.length < length && at < text.length; at++) {
    const sign = text[at] as string
    if (ALPHANUMERIC.test(sign)) account += sign
    else if ((sign !== ' ' && sign !== '-') || account.length % 4 !== 0 || text[at - 1] === sign) return null
  }
  if (account.length < length || (at < text.length && ALPHANUMERIC.test(text[at] as string))) return null
  return checks(account.toUpperCase()) ? { start, end: at, read: at + 1 } : null
}

/** Moves the first four characters to the end and writes letters as two digits: the number modulo 97 is 1. */
function checks(account: string): boolean {
  let rest = 0
  for (const sign of account.slice(4) + account.slice(0, 4)) {
    const code = sign.charCodeAt(0)
    rest = code <= 0x39 ? (rest * 10 + code - 0x30) % 97 : (rest * 100 + code - 0x37) % 97
  }
  return rest === 1
}
