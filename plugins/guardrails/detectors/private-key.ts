// Private keys in PEM, from the first line to the last. Without a last line, all following lines that look like key data.
import type { Finder, Span } from '../rule.ts'

const BEGIN = '-----BEGIN '
const MARK = 'PRIVATE KEY-----'
const END = '-----END '
const MAX_HEAD = 64
const MAX_KEY = 16_000
/** A line of a key, in a text or in a JSON string. */
const LINE = /(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,}/y

export function privateKeyFinder(): Finder {
  return { entity: 'private_key', reach: MAX_HEAD, find: findPrivateKey }
}

function findPrivateKey(text: string, from: number): Span | null {
  for (let start = text.indexOf(BEGIN, from); start !== -1; start = text.indexOf(BEGIN, start + 1)) {
    const marked = text.slice(start, start + MAX_HEAD).indexOf(MARK)
    if (marked === -1) continue
    const limit = start + MAX_KEY
    const view = text.slice(0, limit)
    const ending = view.indexOf(END, start + marked + MARK.length)
    const last = ending === -1 ? -1 : view.indexOf('-----', ending + END.length)
    if (last !== -1) return { start, end: last + 5, read: last + 5 }
    return { start, end: endOfLines(view, start + marked + MARK.length), read: text.length < limit ? text.length + 1 : limit }
  }
  return null
}

function endOfLines(text: string, from: number): number {
  const line = new RegExp(LINE)
  let end = from
  for (line.lastIndex = end; line.test(text); ) end = line.lastIndex
  return end
}
