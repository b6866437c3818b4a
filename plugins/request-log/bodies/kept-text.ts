// Prepares a body for storage: removes media and secrets, and cuts it to the limit.
import { entropy } from '../../../core/ids/entropy.ts'
import { decodeUtf8, encodeUtf8 } from '../../../core/text/bytes.ts'
import { withoutMedia } from './media.ts'

export interface KeptText {
  readonly text: string
  readonly truncated: boolean
}

/** Additional characters before masking, because masking shortens the text. */
const SPARE_CHARS = 65_536

// Secrets of known shape are masked everywhere in a text before it is stored.
const HIDDEN = '***'
/**
 * A match may begin only at a word start, which keeps the expressions linear on any text. In JSON an escaped line end also precedes a
 * word.
 */
const ALONE = String.raw`(?:(?<![\w-])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`
const SHAPES = new RegExp(
  [
    // The gateway's own keys, and vendors' keys.
    String.raw`${ALONE}(?:gw_|gmt_|sk-|sk_live_|rk_live_|github_pat_|glpat-|npm_|AIza)[\w-]{16,}`,
    `${ALONE}A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])`,
    `${ALONE}gh[pousr]_[A-Za-z0-9]{20,}`,
    String.raw`${ALONE}xox[abprs]-[\w-]{10,}`,
    String.raw`${ALONE}whsec_[\w+/=-]{16,}`,
    // JSON web tokens.
    String.raw`${ALONE}eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
  ].join('|'),
  'g',
)
const PRIVATE_KEY = '-----BEGIN '
const KEY_END = 'PRIVATE KEY-----'
/** Matches `api_key = …`, also as a member of JSON text, and of JSON inside a string. */
const ASSIGNED =
  /(password|passwd|secret|token|api[_-]?key|authorization)(\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?(?:Bearer\s{1,4}|Basic\s{1,4})?)([^\s"'\\,;&<>{}()[\]]{16,512})/gi
const MIN_ENTROPY = 3.5

export function withoutSecrets(text: string): string {
  const shaped = withoutPrivateKeys(text).replace(SHAPES, (found) => found.slice(0, 4) + HIDDEN)
  return shaped.replace(ASSIGNED, (all, name: string, between: string, value: string) =>
    entropy(value) >= MIN_ENTROPY ? name + between + HIDDEN : all,
  )
}

function withoutPrivateKeys(text: string): string {
  let out = ''
  let at = 0
  for (;;) {
    const begin = text.indexOf(PRIVATE_KEY, at)
    if (begin === -1) return out + text.slice(at)
    const named = text.slice(begin, begin + 64).indexOf(KEY_END)
    const from = begin + PRIVATE_KEY.length
    if (named === -1) {
      out += text.slice(at, from)
      at = from
      continue
    }
    const end = text.indexOf(KEY_END, begin + named + KEY_END.length)
    out += `${text.slice(at, begin)}[private key]`
    // Without an end marker it extends to the end of the text.
    at = end === -1 ? text.length : end + KEY_END.length
  }
}

/** Returns at most `maxBytes` of UTF-8. */
export function keptText(json: string, maxBytes: number): KeptText {
  const plain = withoutMedia(json)
  const bound = maxBytes + SPARE_CHARS
  // Half a secret would not be recognized.
  const looked = plain.length > bound ? plain.slice(0, wordStart(plain, bound)) : plain
  const clipped = clippedUtf8(withoutSecrets(looked), maxBytes)
  return { text: clipped.text, truncated: clipped.truncated || looked.length < plain.length }
}

/** Never cuts inside a character. */
export function clippedUtf8(text: string, maxBytes: number): KeptText {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= maxBytes) return { text, truncated: false }
  const bytes = encodeUtf8(text)
  if (bytes.length <= maxBytes) return { text, truncated: false }
  let end = maxBytes
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end--
  return { text: decodeUtf8(bytes, 0, end), truncated: true }
}

/** Returns the start of the word that contains `at`, at most one secret's length back. */
function wordStart(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < 8192 && /[\w+/=.-]/.test(text[start - 1] as string)) start--
  return start
}
