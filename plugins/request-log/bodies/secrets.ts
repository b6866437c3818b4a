// Secrets of known shape in a text: they are masked wherever they stand, before anything is kept.
import { entropy } from '../../../core/ids/entropy.ts'

const HIDDEN = '***'
/**
 * A match begins where no other could have begun, which keeps the expressions linear on any text; in JSON also behind an
 * escaped line end.
 */
const ALONE = String.raw`(?:(?<![\w-])|(?<=\\[bfnrt]|\\u[0-9A-Fa-f]{4}))`
const SHAPES = new RegExp(
  [
    // The gateway's own, and vendors' keys.
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
/** `api_key = …`, also as a member of a JSON text, and of one inside a string. */
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
    // One without an end reaches to the end.
    at = end === -1 ? text.length : end + KEY_END.length
  }
}
