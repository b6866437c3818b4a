// Schemas of a preview: facts of the request that it is for, assumptions, and the answer.
import { z } from 'zod'
import { createBody } from '../api-fields.ts'
import { STRATEGIES } from '../service.ts'

const FEATURES = ['vision', 'tools'] as const
const features = z
  .array(z.enum(FEATURES))
  .max(FEATURES.length)
  .describe('Features that the request uses: `vision` (it holds an image), `tools`.')

/** The request that a preview is for. */
export interface RequestFacts {
  readonly inputTokens: number
  readonly maxTokens: number
  /** null: the kind with more measurements. */
  readonly stream: boolean | null
  readonly features: readonly (typeof FEATURES)[number][]
}

const DEFAULTS = { inputTokens: 1000, maxTokens: 1024 }

const digits = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number of at most nine digits')
  .transform(Number)
  .optional()

const NAMED = new RegExp(`^(?:${FEATURES.join('|')})(?:,(?:${FEATURES.join('|')}))*$`)

export const factsQuery = z.strictObject({
  input_tokens: digits,
  max_tokens: digits,
  stream: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  features: z
    .string()
    .regex(NAMED, `must be ${FEATURES.join(' or ')}, or both with a comma`)
    .transform((text) => text.split(',') as (typeof FEATURES)[number][])
    .optional(),
})
const count = z.int().min(0).max(999_999_999)
const factsBody = z.strictObject({
  input_tokens: count.optional(),
  max_tokens: count.optional(),
  stream: z.boolean().optional(),
  features: features.optional(),
})

export function factsOf(given: z.output<typeof factsBody>): RequestFacts {
  const { input_tokens = DEFAULTS.inputTokens, max_tokens = DEFAULTS.maxTokens, stream = null, features = [] } = given
  return { inputTokens: input_tokens, maxTokens: max_tokens, stream, features }
}

export const draftBody = createBody.extend({
  as_key: z.int().min(1).optional().describe('Id of a client key: the answer says whether it may call the model.'),
  assume: z
    .array(z.strictObject({ connection_id: z.int().min(1), state: z.enum(['up', 'down']) }))
    .max(1000)
    .optional()
    .describe('`up` ignores cooldowns, circuits and quotas of the connection.'),
  request: factsBody.optional(),
})

const reason = z.enum([
  'no_connection',
  'model_locked',
  'cooldown',
  'quota_exhausted',
  'circuit_open',
  'at_capacity',
  'policy_blocked',
  'reauth_required',
  'auth_failed',
  'not_allowed',
  'disabled',
  'capability',
  'unsupported',
  'assumed_down',
])

const signals = z.strictObject({
  est_cost_usd: z.number().optional(),
  input_per_1m: z.number().optional(),
  output_per_1m: z.number().optional(),
  latency_ms: z.number().optional(),
  latency_samples: z.int().optional(),
  quota_remaining_pct: z.number().optional().describe('Of the tightest window of the account that has most left.'),
  breaker: z.enum(['closed', 'open', 'half_open']).optional().describe('Of the account that would be asked first.'),
  inflight: z.int().optional().describe('Of all its accounts.'),
})
export type Signals = z.input<typeof signals>

export const preview = z.strictObject({
  virtual_model: z.string(),
  strategy: z.enum(STRATEGIES),
  generated_at: z.string(),
  cursor: z.int(),
  order: z.array(
    z.strictObject({
      rank: z.int(),
      target: z.string(),
      weight: z.number(),
      draw_probability: z.number().optional(),
      connections_available: z.int(),
      connections_total: z.int(),
      signals,
    }),
  ),
  dropped: z.array(
    z.strictObject({
      target: z.string(),
      reason,
      until: z.string().optional(),
      connections: z.array(z.strictObject({ id: z.int(), reason, until: z.string().optional() })),
    }),
  ),
})
export type Preview = z.input<typeof preview>

export const draftPreview = preview.extend({
  shadows_model: z.boolean().describe('true: the name is also the id of a model of a connection, which the virtual model hides.'),
  key: z
    .strictObject({
      id: z.int(),
      label: z.string(),
      allowed: z.boolean().describe('true: its list of allowed models has the name of the draft.'),
      expired: z.boolean(),
    })
    .optional(),
})
