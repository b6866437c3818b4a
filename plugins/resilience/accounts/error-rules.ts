// GATEWAY_ERROR_RULES: an operator's own classes of failure. They run before the built-in ones, and the first match wins. They see the
// parsed answer of the vendor: status, code and message.
import { RE2JS } from 're2js'
import { z } from 'zod'
import { globMatch } from '../../../core/text/glob.ts'
import { WORDED } from '../../../core/text/issue-text.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { type Effect, LOCK_MS, QUOTA_MS, type Span, UNKNOWN_MS } from './effects.ts'

const status = z.union([z.int().min(0).max(599), z.string().regex(/^[1-5]xx$/, 'must be a status or like "5xx"')])
const word = z.string().min(1).max(500)

export const errorRule = z.strictObject({
  name: z.string().max(200).nullish(),
  provider: z.string().nullish(),
  /** Glob. */
  model: z.string().nullish(),
  /** 0: no answer. */
  status: z.union([status, z.array(status)]).nullish(),
  contains: z.union([word, z.array(word)]).nullish(),
  regex: word.nullish(),
  error_code: z.union([z.string(), z.array(z.string())]).nullish(),
  action: z.enum(['cooldown', 'lock_model', 'quota_exhausted', 'disable', 'next_account', 'next_target', 'return', 'retry']),
  cooldown_secs: z
    .number()
    .positive()
    .max(31 * 86_400)
    .nullish(),
  backoff: z.boolean().default(false),
  /** False: the action applies to the account, and the caller gets this error. */
  retryable: z.boolean().default(true),
})
type RuleFields = z.output<typeof errorRule>

export interface Failure {
  readonly error: GatewayErrorShape
  readonly provider: string
  readonly model: string
}

/** Returns the effect of the first matching rule, otherwise null. */
export type ErrorRules = (failure: Failure) => Effect | null

/** Invalid rules are logged and skipped. When the value is not a list, all rules are skipped. */
export function errorRules(given: unknown, log: Logger): ErrorRules {
  if (given === null || given === undefined) return () => null
  if (!Array.isArray(given)) {
    log.warn('error_rules.ignored', { reason: 'GATEWAY_ERROR_RULES is not a JSON array.' })
    return () => null
  }
  const rules = given.flatMap((entry: unknown, index) => {
    try {
      return compiled(errorRule.parse(entry, WORDED))
    } catch (error) {
      const reason = error instanceof z.ZodError ? (error.issues[0]?.message ?? 'wrong value') : (error as Error).message
      const at = error instanceof z.ZodError ? (error.issues[0]?.path.join('.') ?? '') : 'regex'
      log.warn('error_rule.ignored', { index, at, reason })
      return []
    }
  })
  return (failure) => {
    for (const rule of rules) if (rule.matches(failure)) return rule.effect(failure.error)
    return null
  }
}

/** @throws Error for a regular expression that RE2 does not support. */
function compiled(rule: RuleFields): { matches(failure: Failure): boolean; effect(error: GatewayErrorShape): Effect } {
  const statuses = rule.status === null || rule.status === undefined ? null : [rule.status].flat()
  const words = rule.contains ? [rule.contains].flat().map((text) => text.toLowerCase()) : null
  const codes = rule.error_code ? [rule.error_code].flat() : null
  // RE2, because upstreams write the text: it takes linear time for any pattern and text.
  const regex = rule.regex ? RE2JS.compile(rule.regex, RE2JS.CASE_INSENSITIVE) : null
  return {
    matches({ error, provider, model }) {
      const code = error.upstream?.vendorCode ?? null
      if (rule.provider && rule.provider !== '*' && rule.provider !== provider) return false
      if (rule.model && !globMatch(rule.model, model)) return false
      if (statuses !== null && !statuses.some((one) => isStatus(one, error.upstream?.status ?? 0))) return false
      if (codes !== null && (code === null || !codes.includes(code))) return false
      const text = `${code ?? ''} ${error.message}`
      if (words !== null && !words.some((one) => text.toLowerCase().includes(one))) return false
      return regex?.matcher(text).find() ?? true
    },
    effect: (error) => effectOf(rule, error),
  }
}

function isStatus(wanted: number | string, status: number): boolean {
  return typeof wanted === 'number' ? wanted === status : status > 0 && wanted[0] === String(status)[0]
}

function effectOf(rule: RuleFields, error: GatewayErrorShape): Effect {
  const walk = rule.retryable ? 'next_account' : 'return'
  const span = (fallback: number): Span => ({
    ms: rule.cooldown_secs ? rule.cooldown_secs * 1000 : (error.retryAfterMs ?? fallback),
    backoff: rule.backoff,
  })
  const wait = error.retryAfterMs === null || !rule.retryable ? {} : { waitMs: error.retryAfterMs }
  switch (rule.action) {
    case 'cooldown':
      return { cooldown: span(UNKNOWN_MS), walk, ...wait }
    case 'lock_model':
      return { lock: { ...span(LOCK_MS), reason: error.upstream?.status === 429 ? 'rate_limited' : 'rule' }, walk, ...wait }
    case 'quota_exhausted':
      return { quotaMs: span(QUOTA_MS).ms, walk }
    case 'disable':
      return { refused: true, walk }
    case 'retry':
      return { again: true }
    default:
      return { walk: rule.action }
  }
}
