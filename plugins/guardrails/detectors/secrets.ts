// Credentials: keys by the shapes vendors gave them, tokens, private keys, and what is assigned to a name that
// means a secret and looks random enough.
import { entropy } from '../../../core/ids/entropy.ts'
import { type Finder, patternFinder, type Span, wholeMatch } from '../rule.ts'
import { privateKeyFinder } from './private-key.ts'

/** A match begins where a word does, also behind an escaped line end of JSON: that keeps the expressions linear. */
const ALONE = String.raw`(?:(?<![\w-])|(?<=\\[bfnrt]))`
const SHAPES = [
  // OpenAI, Anthropic and those who took their form; this gateway's own.
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
  // Stripe, and signing secrets of webhooks.
  '[rs]k_(?:live|test)_[A-Za-z0-9]{16,}',
  'whsec_[A-Za-z0-9+/=_-]{16,}',
]
/** A JSON object in base64url, a second one behind the dot. Heads longer than this are unheard of. */
const JWT = String.raw`eyJ[\w-]{8,200}\.eyJ[\w.-]{8,}`
const SHAPE_REACH = 224

const NAMES = 'passw(?:or)?d|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|credentials?'
const ASSIGNED = new RegExp(
  String.raw`(?:${NAMES})(?:[_-][A-Za-z0-9]{1,16}){0,2}\\{0,3}["'\x60]?\s{0,4}(?:[:=]|=>)\s{0,4}\\{0,3}["'\x60]?(?:Bearer |Basic )?([^\s"'\x60\\,;&<>{}()[\]]{16,})`,
  'di',
)
const ASSIGNED_REACH = 240
/** Bits a character. */
const MIN_ENTROPY = 3.5
const JUDGED = 160
/** Where a value is to be found, not the value. */
const REFERENCE = /^(?:https?:\/\/|process\.env|os\.environ|import\.meta)/

export function secretFinders(): Finder[] {
  return [
    patternFinder('api_key', SHAPE_REACH, new RegExp(`${ALONE}(?:${SHAPES.join('|')})`)),
    patternFinder('jwt', SHAPE_REACH, new RegExp(ALONE + JWT)),
    privateKeyFinder(),
    patternFinder('assigned', ASSIGNED_REACH, ASSIGNED, assigned),
  ]
}

/** The value alone. */
function assigned(match: RegExpExecArray): Span | null {
  const value = match.indices?.[1]
  // Only what is in view whenever this is decided.
  const judged = match[1]?.slice(0, JUDGED) ?? ''
  if (value === undefined || REFERENCE.test(judged) || entropy(judged) < MIN_ENTROPY) return null
  return { ...wholeMatch(match), start: value[0], end: value[1] }
}
