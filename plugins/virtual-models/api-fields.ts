// Schemas of a virtual model in the control plane: bodies and records.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { WORDED } from '../../core/text/issue-text.ts'
import { complaints, DEFAULT_CONFIG, target, virtualModelName } from './fields.ts'
import { STRATEGIES, type VirtualModel, type VirtualModelConfig, type VirtualTarget } from './service.ts'
import type { VirtualModelFields } from './store.ts'

const weight = z.number('must be a number').min(0, 'must not be negative').max(1e9)

export const targetObject = z.strictObject({
  target: z.string().max(512).optional(),
  provider: z.string().min(1).max(64).optional(),
  model: z.string().min(1).max(512).optional().describe('A bare id beside `provider`, else `provider/model`.'),
  weight: weight.optional(),
  connection_id: z.int().min(1).nullable().optional(),
  enabled: z.boolean().optional(),
  instruction: z.string().max(20_000).nullable().optional(),
  params: z.record(z.string(), z.unknown()).nullable().optional(),
})

const targetBody = z.union([z.string().max(512), targetObject], { error: nearest })

const configBody = z.strictObject({
  session_sticky: z.boolean().optional(),
  sticky_ttl_secs: z.int().min(1).max(86_400).optional(),
  max_attempts: z.int().min(0).max(64).optional().describe('0 = as many as there are accounts.'),
  judge: z.string().max(512).nullable().optional(),
  min_panel: z.int().min(1).max(64).optional(),
  straggler_grace_ms: z.int().min(0).max(600_000).optional(),
  panel_timeout_ms: z.int().min(1).max(600_000).optional(),
  latency_buffer: z.number().min(0).max(1).optional(),
  token_saver: z.boolean().optional().describe('False: the token saver leaves requests through it alone.'),
})

const optionalFields = {
  modality: z.enum(['text', 'image']).optional(),
  enabled: z.boolean().optional(),
  position: z.int().min(0).max(1_000_000).optional(),
  description: z.string().max(2000).optional(),
  config: configBody.optional(),
}
const strategy = z.enum(STRATEGIES)
const targets = z.array(targetBody).min(1, 'needs at least one target').max(64)

export const createBody = z.strictObject({ name: virtualModelName, strategy, targets, ...optionalFields })
export const updateBody = z.strictObject({
  name: virtualModelName.optional(),
  strategy: strategy.optional(),
  targets: targets.optional(),
  ...optionalFields,
})

const targetRecord = z.strictObject({
  target: z.string(),
  provider: z.string(),
  model: z.string(),
  weight: z.number(),
  connection_id: z.int().nullable(),
  enabled: z.boolean(),
  instruction: z.string().nullable(),
  params: z.record(z.string(), z.unknown()).nullable(),
})

export const virtualModelRecord = z.strictObject({
  id: z.int(),
  org_id: z.int().nullable(),
  name: z.string(),
  strategy,
  modality: z.enum(['text', 'image']),
  enabled: z.boolean(),
  position: z.int(),
  targets: z.array(targetRecord),
  config: configBody.required(),
  description: z.string(),
  managed_by: z.enum(['config', 'api']),
  config_key: z.string().nullable().describe('Its name in gateway.config.ts; null for rows of the API.'),
  created_at: z.string(),
  updated_at: z.string(),
})

export const warnedRecord = virtualModelRecord.extend({
  warning: z
    .strictObject({ code: z.literal('shadows_model'), model: z.string() })
    .optional()
    .describe('The name is that of a model, which is reached through this virtual model from now on.'),
})

/** Merges the body over the stored fields. @throws GatewayError 400 naming the member. */
export function fieldsOf(body: z.output<typeof updateBody>, before: VirtualModelFields): VirtualModelFields {
  const fields: VirtualModelFields = {
    name: body.name ?? before.name,
    strategy: body.strategy ?? before.strategy,
    modality: body.modality ?? before.modality,
    enabled: body.enabled ?? before.enabled,
    position: body.position ?? before.position,
    description: body.description ?? before.description,
    targets: body.targets?.map(targetOf) ?? before.targets,
    config: configOf(body.config ?? {}, before.config),
  }
  const [complaint] = complaints({ ...fields, targets: [...fields.targets] as never })
  if (complaint) throw GatewayError.invalid(complaint[0].join('.'), `\`${complaint[0].join('.')}\`: ${complaint[1]}.`)
  return fields
}

export const NO_FIELDS: VirtualModelFields = {
  name: '',
  strategy: 'failover',
  modality: 'text',
  enabled: true,
  position: 0,
  targets: [],
  config: DEFAULT_CONFIG,
  description: '',
}

export function recordOf(model: VirtualModel): z.input<typeof virtualModelRecord> {
  const { id, orgId, name, strategy, modality, enabled, position, config, description, managedBy, configKey } = model
  return {
    id,
    org_id: orgId,
    name,
    strategy,
    modality,
    enabled,
    position,
    targets: model.targets.map(({ provider, model, weight, connectionId, enabled, instruction, params }) => ({
      target: `${provider}/${model}`,
      provider,
      model,
      weight,
      connection_id: connectionId,
      enabled,
      instruction,
      params: params === null ? null : { ...params },
    })),
    config: {
      session_sticky: config.sessionSticky,
      sticky_ttl_secs: config.stickyTtlSecs,
      max_attempts: config.maxAttempts,
      judge: config.judge,
      min_panel: config.minPanel,
      straggler_grace_ms: config.stragglerGraceMs,
      panel_timeout_ms: config.panelTimeoutMs,
      latency_buffer: config.latencyBuffer,
      token_saver: config.tokenSaver,
    },
    description,
    managed_by: managedBy,
    config_key: configKey,
    created_at: new Date(model.createdAt).toISOString(),
    updated_at: new Date(model.updatedAt).toISOString(),
  }
}

function targetOf(given: z.output<typeof targetBody>, index: number): VirtualTarget {
  const { connection_id, ...rest } = typeof given === 'string' ? { target: given, connection_id: null } : given
  const parsed = target.safeParse({ ...rest, ...(connection_id === undefined ? {} : { connectionId: connection_id }) }, WORDED)
  if (parsed.success) return parsed.data
  throw GatewayError.invalid(`targets.${index}`, `\`targets.${index}\`: ${parsed.error.issues[0]?.message}.`)
}

function configOf(body: z.output<typeof configBody>, before: VirtualModelConfig): VirtualModelConfig {
  if (typeof body.judge === 'string' && !/^[^/\s]+\/\S+$/.test(body.judge))
    throw GatewayError.invalid('config.judge', '`config.judge`: must be a concrete provider/model id.')
  return {
    sessionSticky: body.session_sticky ?? before.sessionSticky,
    stickyTtlSecs: body.sticky_ttl_secs ?? before.stickyTtlSecs,
    maxAttempts: body.max_attempts ?? before.maxAttempts,
    judge: body.judge === undefined ? before.judge : body.judge,
    minPanel: body.min_panel ?? before.minPanel,
    stragglerGraceMs: body.straggler_grace_ms ?? before.stragglerGraceMs,
    panelTimeoutMs: body.panel_timeout_ms ?? before.panelTimeoutMs,
    latencyBuffer: body.latency_buffer ?? before.latencyBuffer,
    tokenSaver: body.token_saver ?? before.tokenSaver,
  }
}

/** Returns the issue of the object form: a caller that sent an object did not use the text form. */
function nearest(issue: z.core.$ZodRawIssue): string {
  const text = 'must be a `provider/model` id or an object'
  if (issue.code !== 'invalid_union' || typeof issue.input !== 'object' || issue.input === null) return text
  const wrong = issue.errors.at(-1)?.[0]
  if (wrong === undefined) return text
  if (wrong.code === 'unrecognized_keys') return `\`${wrong.keys[0]}\` is no field of a target`
  return `\`${wrong.path.map(String).join('.')}\`: ${wrong.message}`
}
