// Masks secrets in foreign text, in every spelling that an upstream may echo, and their beginnings in texts that were cut.
import { memoize } from '../collections/memoize.ts'
import { Spellings } from './secret-spellings.ts'

/** A shorter secret may be a common word; masking it would destroy the message. */
const MIN_SECRET = 4
/** A truncated text may end with the beginning of a secret. */
const MIN_BEGINNING = 8
/** Elsewhere a beginning this long counts; a shorter one may be the public prefix of all keys of a vendor. */
const MIN_INNER = 12
const HIDDEN = '***'
/** Masks that are kept: an upstream that fails gives an error for each request. */
const MAX_KEPT = 64

export type Mask = (text: string) => string

/** The text is the JSON of the secrets, the longest first. */
const maskOf = memoize((json): Mask => {
  const known = JSON.parse(json) as string[]
  const spellings = new Spellings(known)
  return (text) =>
    known.reduce((clean, secret) => withoutInner(withoutBeginning(clean, secret), secret), withoutWhole(text, spellings))
}, MAX_KEPT)

/** Returns a function that masks these secrets. Its time is linear in the text. */
export function secretMask(secrets: readonly string[]): Mask {
  // A longer secret may contain a shorter one, so the longest come first.
  const known = [...new Set(secrets.filter(({ length }) => length >= MIN_SECRET))].sort((a, b) => b.length - a.length)
  return known.length === 0 ? (text) => text : maskOf(JSON.stringify(known))
}

function withoutWhole(text: string, spellings: Spellings): string {
  let [clean, from] = ['', 0]
  for (let at = 0; at < text.length; ) {
    const end = spellings.endFrom(text, at)
    if (end === -1) at++
    else {
      clean += text.slice(from, at) + HIDDEN
      from = end
      at = end
    }
  }
  return clean + text.slice(from)
}

function withoutBeginning(text: string, secret: string): string {
  const end = text.endsWith('…') ? text.length - 1 : text.length
  const tail = text.slice(0, end).toLowerCase()
  const small = secret.toLowerCase()
  for (let length = Math.min(small.length, end); length >= MIN_BEGINNING; length--)
    if (tail.endsWith(small.slice(0, length))) return `${text.slice(0, end - length)}${HIDDEN}${text.slice(end)}`
  return text
}

/** Masks what an upstream shortened itself: `sk-live-abcdef… is wrong`. */
function withoutInner(text: string, secret: string): string {
  const small = secret.toLowerCase()
  const searched = text.toLowerCase()
  // Some letters have another length in lower case.
  if (small.length <= MIN_INNER || searched.length !== text.length) return text
  const start = small.slice(0, MIN_INNER)
  let [clean, from] = ['', 0]
  for (let at = searched.indexOf(start); at !== -1; at = searched.indexOf(start, from)) {
    let length = MIN_INNER
    while (length < small.length && searched[at + length] === small[length]) length++
    clean += text.slice(from, at) + HIDDEN
    from = at + length
  }
  return clean + text.slice(from)
}
