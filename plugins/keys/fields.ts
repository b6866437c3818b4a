// Schemas of a key's members for the API and the file, in two spellings.
import { z } from 'zod'
import type { KeyFields, KeyRow } from './store.ts'

const NANO = 1e9
const MAX_USD = Number.MAX_SAFE_INTEGER / NANO

const label = z.string().trim().min(1, 'must not be empty').max(200)
const glob = z.string().min(1, 'must not be empty').max(256)
const cap = z.int('must be a whole number').min(1, 'must be at least 1').max(1_000_000_000).nullable()
const costCenter = z
  .string()
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/, 'must be 1 to 128 printable ASCII characters')
  .nullable()
const usd = z
  .number()
  .min(0, 'must not be negative')
  .max(MAX_USD, `must be at most ${Math.floor(MAX_USD)}`)
  .nullable()
const instant = z.iso.datetime({ offset: true, error: 'must be an RFC 3339 time such as 2027-01-31T00:00:00Z' }).nullable()

export const createBody = z.strictObject({
  label: label.optional(),
  allowed_models: z.array(glob).max(1000).optional(),
  rate_limit_rpm: cap.optional(),
  rate_limit_tpm: cap.optional(),
  cost_center: costCenter.optional(),
  session_budget_usd: usd.optional(),
  expires_at: instant.optional(),
  guardrails_exempt: z.boolean().optional(),
  shadow_opt_out: z.boolean().optional(),
})
export type KeyBody = z.output<typeof createBody>

export const keyRecord = z.strictObject({
  id: z.int(),
  label: z.string(),
  key_hint: z.string().describe('The last characters of the secret.'),
  allowed_models: z.array(z.string()),
  rate_limit_rpm: z.int().nullable(),
  rate_limit_tpm: z.int().nullable(),
  cost_center: z.string().nullable(),
  session_budget_usd: z.number().nullable(),
  expires_at: z.string().nullable(),
  guardrails_exempt: z.boolean(),
  shadow_opt_out: z.boolean(),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable().describe('Its name in gateway.config.ts; null for rows of the API.'),
  created_at: z.string(),
  updated_at: z.string(),
})

export const createdKey = keyRecord.extend({ key: z.string().describe('The secret: shown this once.') })

/** A key in the file. */
export const declaredKey = z.strictObject({
  label: label.optional(),
  secret: z.union([z.string(), z.object({ secret: z.enum(['env', 'file']), name: z.string() })]).optional(),
  allowedModels: z.array(glob).max(1000).optional(),
  rateLimitRpm: cap.optional(),
  rateLimitTpm: cap.optional(),
  costCenter: costCenter.optional(),
  sessionBudgetUsd: usd.optional(),
  expiresAt: instant.optional(),
  guardrailsExempt: z.boolean().optional(),
  shadowOptOut: z.boolean().optional(),
})
export type DeclaredKey = z.output<typeof declaredKey>

export function bodyOf(declared: DeclaredKey): KeyBody {
  return {
    label: declared.label,
    allowed_models: declared.allowedModels,
    rate_limit_rpm: declared.rateLimitRpm,
    rate_limit_tpm: declared.rateLimitTpm,
    cost_center: declared.costCenter,
    session_budget_usd: declared.sessionBudgetUsd,
    expires_at: declared.expiresAt,
    guardrails_exempt: declared.guardrailsExempt,
    shadow_opt_out: declared.shadowOptOut,
  }
}

/** A missing member keeps its value in `before`. */
export function fieldsOf(body: KeyBody, before: KeyFields): KeyFields {
  const kept = <T>(given: T | undefined, old: T): T => (given === undefined ? old : given)
  return {
    label: kept(body.label, before.label),
    allowed_models: kept(body.allowed_models, before.allowed_models as string[]),
    rate_limit_rpm: kept(body.rate_limit_rpm, before.rate_limit_rpm),
    rate_limit_tpm: kept(body.rate_limit_tpm, before.rate_limit_tpm),
    cost_center: kept(body.cost_center, before.cost_center),
    session_budget_nano:
      body.session_budget_usd === undefined
        ? before.session_budget_nano
        : body.session_budget_usd === null
          ? null
          : Math.round(body.session_budget_usd * NANO),
    expires_at: body.expires_at === undefined ? before.expires_at : body.expires_at === null ? null : Date.parse(body.expires_at),
    guardrails_exempt: kept(body.guardrails_exempt, before.guardrails_exempt),
    shadow_opt_out: kept(body.shadow_opt_out, before.shadow_opt_out),
  }
}

export const NO_FIELDS: KeyFields = {
  label: '',
  allowed_models: [],
  rate_limit_rpm: null,
  rate_limit_tpm: null,
  cost_center: null,
  session_budget_nano: null,
  expires_at: null,
  guardrails_exempt: false,
  shadow_opt_out: false,
}

export function recordOf(row: KeyRow): z.input<typeof keyRecord> {
  return {
    id: row.id,
    label: row.label,
    key_hint: `…${row.last4}`,
    allowed_models: row.allowed_models,
    rate_limit_rpm: row.rate_limit_rpm,
    rate_limit_tpm: row.rate_limit_tpm,
    cost_center: row.cost_center,
    session_budget_usd: row.session_budget_nano === null ? null : row.session_budget_nano / NANO,
    expires_at: row.expires_at === null ? null : new Date(row.expires_at).toISOString(),
    guardrails_exempt: row.guardrails_exempt,
    shadow_opt_out: row.shadow_opt_out,
    managed_by: row.managed_by,
    config_key: row.config_key,
    created_at: new Date(row.created_at).toISOString(),
    updated_at: new Date(row.updated_at).toISOString(),
  }
}
