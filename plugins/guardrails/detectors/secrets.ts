// Detects credentials: keys in vendors' formats, tokens, private keys, and random-looking values that are assigned to a name for a
// secret.
import { entropy } from '../../../core/ids/entropy.ts'
import { type Finder, patternFinder, type Span, wholeMatch } from '../rule.ts'

/** A match begins at a word start, also after an escaped line end of JSON. This keeps the expressions linear. */
const ALONE = String.raw`(?:(?<![\w-])|(?<=\\[bfnrt]))`
const SHAPES = [
  // OpenAI, Anthropic and vendors with the same format; this gateway's own keys.
  'sk-[A-Za-z0-9_-]{16,}',
  'g(?:w|mt)_[A-Za-z0-9]{24,}',
  // AWS access key ids.
  'A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])',
  // GitHub, GitLab, npm, Slack, Google, Hugging Face.
  'gh[opsur]_[A-Za-z0-9]{20,}',
  'github_pat_[A-Za-z0-9_]{20,}',
  String.raw`glpat-[\w-]{16,}`,
  'npm_[A-Za-z0-9]{30,}',
  'xox[abprs]-[A-Za-z0-9-]{10,}',
  String.raw`AIza[\w-]{30,}`,
  'hf_[A-Za-z0-9]{30,}',
  // Stripe keys, and signing secrets of webhooks.
  '[rs]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=_-]{16,}',
]
/** A JSON object in base64url, with a second one after the dot. Longer headers do not occur. */
const JWT = String.raw`eyJ[\w-]{8,200}\.eyJ[\w.-]{8,}`
const SHAPE_REACH = 224

const NAMES = 'passw(?:or)?d|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|credentials?'
const ASSIGNED = new RegExp(
  String.raw`(?:${NAMES})(?:[_-][A-Za-z0-9]{1,16}){0,2}\\{0,3}["'\x60]?\s{0,4}(?:[:=]|=>)\s{0,4}\\{0,3}["'\x60]?(?:Bearer |Basic )?([^\s"'\x60\\,;&<>{}()[\]]{16,})`,
  'di',
)
const ASSIGNED_REACH = 240
/** Bits per character. */
const MIN_ENTROPY = 3.5
const JUDGED = 160
/** References to a value, which are not the value. */
const REFERENCE = /^(?:https?:\/\/|process\.env|os\.environ|import\.meta)/

// Private keys in PEM, from the first line to the last. Without a last line, all following lines that look like key data.
const BEGIN = '-----BEGIN '
const MARK = 'PRIVATE KEY-----'
const END = '-----END '
const MAX_HEAD = 64
const MAX_KEY = 16_000
/** A line of a key, in a text or in a JSON string. */
const LINE = /(?:\s|\\[nr])*[A-Za-z0-9+/=]{20,}/y

function privateKeyFinder(): Finder {
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

export function secretFinders(): Finder[] {
  return [
    patternFinder('api_key', SHAPE_REACH, new RegExp(`${ALONE}(?:${SHAPES.join('|')})`)),
    patternFinder('jwt', SHAPE_REACH, new RegExp(ALONE + JWT)),
    privateKeyFinder(),
    patternFinder('assigned', ASSIGNED_REACH, ASSIGNED, assigned),
  ]
}

/** Returns the span of the value without its name. */
function assigned(match: RegExpExecArray): Span | null {
  const value = match.indices?.[1]
  // Only characters that are always visible when this is decided.
  const judged = match[1]?.slice(0, JUDGED) ?? ''
  if (value === undefined || REFERENCE.test(judged) || entropy(judged) < MIN_ENTROPY) return null
  return { ...wholeMatch(match), start: value[0], end: value[1] }
}
