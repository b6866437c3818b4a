// Limits an action's details and removes secrets. It runs before hashing, because entries of the chain cannot be changed later.
import { maskUrl } from '../../core/text/sanitize.ts'

const SECRET_NAME =
  /authorization|cookie|credential|key|passphrase|passw|secret|signature|token|headers$|proxy_?url|(?:^|[_-])auth$/i
/** Names that match the pattern but hold no secret. */
const HARMLESS_NAME = /^token_saver\b|_hint$/i
/** Secrets of known shape in any text: the gateway's own, vendors' keys, JWTs. */
const SECRET_TEXT = /\b(gw_|gmt_|sk-|eyJ)[\w-]{16,}(?:\.[\w-]+){0,2}|(whsec_)[\w+/=-]{16,}/g

const HIDDEN = '***'
const MAX_DEPTH = 8
const MAX_VALUES = 500
const MAX_TEXT = 1000
const MAX_TOTAL = 16_384

/** Returns canonical JSON (RFC 8785) of a value with bounded depth, without undefined members. */
function rfc8785(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => rfc8785(item ?? null)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const object = value as Record<string, unknown>
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${rfc8785(object[name])}`)
  return `{${members.join(',')}}`
}

/** Returns canonical JSON of an object. */
export function redactedDetails(details: Readonly<Record<string, unknown>>): string {
  let left = MAX_VALUES
  const copy = (value: unknown, hide: boolean, depth: number): unknown => {
    if (--left < 0) return '…'
    if (typeof value === 'string') return hide && value !== '' ? HIDDEN : shortText(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : null
    if (typeof value === 'boolean' || value === null) return value
    if (typeof value !== 'object') return undefined
    if (depth === MAX_DEPTH) return '…'
    if (Array.isArray(value)) return value.slice(0, MAX_VALUES).map((item) => copy(item, hide, depth + 1))
    const out = Object.create(null) as Record<string, unknown>
    for (const name of Object.keys(value).slice(0, MAX_VALUES)) {
      const secret = hide || (SECRET_NAME.test(name) && !HARMLESS_NAME.test(name))
      out[shortText(name)] = copy((value as Record<string, unknown>)[name], secret, depth + 1)
    }
    return out
  }
  const text = rfc8785(copy(details, false, 0))
  if (text.length <= MAX_TOTAL) return text
  return rfc8785({ truncated: true, members: Object.keys(details).slice(0, 50).map(shortText) })
}

/** Returns text for a column: without NUL, which PostgreSQL cannot store, and without lone surrogates, which would be read back changed. */
export function columnText(text: string, max: number): string {
  return text.slice(0, max).replaceAll('\0', '\uFFFD').toWellFormed()
}

function shortText(text: string): string {
  // The text is cut first, so that the expressions get limited input.
  const masked = maskUrl(text.slice(0, 4 * MAX_TEXT)).replace(SECRET_TEXT, (_, ours, webhook) => `${ours ?? webhook}${HIDDEN}`)
  return masked.length > MAX_TEXT ? `${masked.slice(0, MAX_TEXT - 1)}…` : masked
}
