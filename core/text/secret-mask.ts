// Masks secrets in foreign text, in every spelling that an upstream may echo: other letter case, URL and JSON escapes, base64, hexadecimal.
import { encodeUtf8 } from './bytes.ts'

/** A shorter secret may be a common word; masking it would destroy the message. */
const MIN_SECRET = 4
/** A truncated text may end with the beginning of a secret. */
const MIN_BEGINNING = 8
/** Elsewhere a beginning this long counts; a shorter one may be the public prefix of all keys of a vendor. */
const MIN_INNER = 12
/** Fewer characters of base64 occur in ordinary text by chance. */
const MIN_BASE64 = 8
const HIDDEN = '***'

export type Mask = (text: string) => string

/** Returns the mask for one error. Its time is linear in the text. */
export function secretMask(secrets: readonly string[]): Mask {
  // A longer secret may contain a shorter one, so the longest come first.
  const known = [...new Set(secrets.filter(({ length }) => length >= MIN_SECRET))].sort((a, b) => b.length - a.length)
  if (known.length === 0) return (text) => text
  const spellings = known.flatMap((secret) => [spelled(secret), inHex(secret), ...inBase64(secret).map(literally)])
  const pattern = new RegExp(spellings.join('|'), 'gi')
  return (text) =>
    known.reduce((clean, secret) => withoutInner(withoutBeginning(clean, secret), secret), text.replace(pattern, HIDDEN))
}

/** Matches each character itself or one of its escapes. */
function spelled(secret: string): string {
  return Array.from(secret, (character) => {
    const bytes = Array.from(encodeUtf8(character), hex)
    const url = bytes.map((byte) => `%(?:25)?${byte}`).join('')
    const json = Array.from(
      { length: character.length },
      (_, at) => `\\\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    )
    return `(?:\\\\?${literally(character)}|${url}|${json.join('')}${character === ' ' ? '|\\+' : ''})`
  }).join('')
}

/** The pattern ignores the case of the digits. */
function inHex(secret: string): string {
  return Array.from(encodeUtf8(secret), hex).join('')
}

/** Returns substrings that every base64 text with the secret contains, at all three offsets and in both alphabets. */
function inBase64(secret: string): string[] {
  const bytes = encodeUtf8(secret)
  return [0, 1, 2].flatMap((before) => {
    const bits = 8 * (before + bytes.length)
    const whole = base64([...new Array<number>(before).fill(0), ...bytes])
    // The characters at both ends also hold bits of the neighbouring text.
    const core = whole.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6))
    if (core.length < MIN_BASE64) return []
    const other = core.replaceAll('+', '-').replaceAll('/', '_')
    return other === core ? [core] : [core, other]
  })
}

function base64(bytes: readonly number[]): string {
  return btoa(String.fromCharCode(...bytes))
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
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
