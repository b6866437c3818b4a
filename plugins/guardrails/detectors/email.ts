// Detects e-mail addresses, also with letters outside ASCII. It searches outward from the `@`, so it needs one pass.
import type { Finder, Span } from '../rule.ts'

const MAX_LOCAL = 64
const MAX_DOMAIN = 253
const LOCAL = /[\p{L}\p{N}.!#$%&'*+/=?^_`{|}~-]/u
const DOMAIN = /[\p{L}\p{N}.-]/u
const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u
const TOP_LEVEL = /^(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})$/iu
/** Characters that may precede an address without being part of it. */
const WRAPPING = /['`{|}/=&?]/

export function emailFinder(): Finder {
  return { entity: 'email', reach: MAX_LOCAL + 2, find: findEmail }
}

function findEmail(text: string, from: number): Span | null {
  for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
    const start = localStart(text, at)
    if (start < from) continue
    let stop = at + 1
    while (stop < text.length && stop - at <= MAX_DOMAIN && DOMAIN.test(text[stop] as string)) stop++
    const end = domainEnd(text, at + 1, stop)
    if (end !== -1) return { start, end, read: stop + 1 }
  }
  return null
}

/** Returns -1 when no address can begin before the `@`. */
function localStart(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start <= MAX_LOCAL && LOCAL.test(text[start - 1] as string)) start--
  for (let i = at - 1; i >= start; i--) if (WRAPPING.test(text[i] as string)) start = i + 1
  while (start < at && text[start] === '.') start++
  return start === at || at - start > MAX_LOCAL || text[at - 1] === '.' ? -1 : start
}

/** Returns the end of the domain name with a top-level domain; -1: there is none. */
function domainEnd(text: string, start: number, stop: number): number {
  let end = -1
  let label = start
  for (let at = start; at <= stop; at++) {
    if (at < stop && text[at] !== '.') continue
    let name = text.slice(label, at)
    const trailing = /-+$/.exec(name)
    if (trailing !== null) name = name.slice(0, trailing.index)
    if (!NAME.test(name)) break
    if (label > start && TOP_LEVEL.test(name)) end = label + name.length
    if (trailing !== null) break
    label = at + 1
  }
  return end
}
