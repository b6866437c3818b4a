// `guardrails` of /api/settings: every member is a separate setting, so that all are shown with their defaults.
import { z } from 'zod'
import { regexFault } from './detectors/operator-regex.ts'
import { MAX_WORD } from './detectors/word-trie.ts'

const PII_ENTITIES = ['email', 'phone', 'credit_card', 'us_ssn', 'iban', 'ip'] as const
export type PiiEntity = (typeof PII_ENTITIES)[number]

const observed = z.enum(['off', 'log', 'block']).default('off')
const changed = z.enum(['off', 'log', 'redact', 'block']).default('off')
const yes = z.boolean().default(true)
const no = z.boolean().default(false)

const word = z.string().trim().min(1, 'must not be empty').max(MAX_WORD, `must be at most ${MAX_WORD} characters long`)
const topic = z.union(
  [
    word,
    z.strictObject({
      name: z.string().trim().min(1, 'must not be empty').max(64),
      keywords: z.array(word).min(1, 'must name a keyword').max(500),
      min_hits: z.int().min(1).max(1000).default(2),
    }),
  ],
  'must be a keyword, or {name, keywords, min_hits}',
)
export type TopicSetting = z.output<typeof topic>

const regex = z
  .string()
  .min(1, 'must not be empty')
  .max(256, 'must be at most 256 characters long')
  .superRefine((source, issues) => {
    const fault = regexFault(source)
    if (fault !== null) issues.addIssue({ code: 'custom', message: fault })
  })

const members = {
  'guardrails.enabled': no,
  'guardrails.tokens.mode': z
    .enum(['auto', 'log', 'block'])
    .default('auto')
    .describe(
      'For prompts of tokens, which no detector can read. `auto`: refused when a rule for requests blocks, otherwise logged.',
    ),
  'guardrails.prompt_injection.mode': observed,
  'guardrails.prompt_injection.threshold': z.number().min(0.01, 'must be at least 0.01').max(1).default(0.7),
  'guardrails.prompt_injection.scan_tool_results': yes,
  'guardrails.pii.mode': changed,
  'guardrails.pii.entities': z.array(z.enum(PII_ENTITIES)).default([...PII_ENTITIES]),
  'guardrails.pii.input': yes,
  'guardrails.pii.output': no,
  'guardrails.pii.restore': no,
  'guardrails.secrets.mode': changed,
  'guardrails.secrets.input': yes,
  'guardrails.secrets.output': yes,
  'guardrails.topics.mode': observed,
  'guardrails.topics.deny': z.array(topic).max(200).default([]),
  'guardrails.topics.input': yes,
  'guardrails.topics.output': yes,
  'guardrails.keywords.mode': changed,
  'guardrails.keywords.deny': z.array(word).max(5000).default([]),
  'guardrails.keywords.regex': z.array(regex).max(50).default([]),
  'guardrails.keywords.case_sensitive': no,
  'guardrails.keywords.input': yes,
  'guardrails.keywords.output': yes,
}

export type SettingKey = keyof typeof members
export type Settings = { [K in SettingKey]: z.output<(typeof members)[K]> }

/** An organization adds its own policy to the gateway's. */
export const settings = Object.fromEntries(
  Object.entries(members).map(([key, schema]) => [key, schema.meta({ ...schema.meta(), scope: 'organization' })]),
) as typeof members
