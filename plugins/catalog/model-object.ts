// Builds model objects and model group info for the API. Unknown members are absent.
import { z } from 'zod'
import { CAPABILITIES, MODES } from '../../core/models/model-words.ts'
import type { TokenPrices } from '../../core/types/ports/prices.ts'
import type { ModelEntry } from './entries.ts'
import type { ModelFacts } from './service.ts'

const pricing = z.strictObject({
  input: z.number().positive().optional(),
  output: z.number().positive().optional(),
  cache_read: z.number().positive().optional(),
  cache_write: z.number().positive().optional(),
  unit: z.literal('per_1m_tokens'),
})

const factsShape = {
  context_window: z.int().positive().optional(),
  max_output_tokens: z.int().positive().optional(),
  mode: z.enum(MODES).optional(),
}

export const capabilityFlags = z.partialRecord(z.enum(CAPABILITIES), z.boolean())

export const modelObject = z.strictObject({
  id: z.string(),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds: since when it can be called here.'),
  owned_by: z.string(),
  ...factsShape,
  capabilities: capabilityFlags,
  pricing: pricing.optional(),
  targets: z.array(z.string()).optional().describe('Of a virtual model.'),
})
export const modelList = z.strictObject({ object: z.literal('list'), data: z.array(modelObject) })

export const groupInfo = z.looseObject({ model_group: z.string(), providers: z.array(z.string()), ...factsShape })
export const groupList = z.strictObject({ data: z.array(groupInfo) })

export function factsOf({ contextWindow, maxOutputTokens, mode }: ModelFacts): {
  context_window?: number
  max_output_tokens?: number
  mode?: (typeof MODES)[number]
} {
  return {
    ...(contextWindow ? { context_window: contextWindow } : {}),
    ...(maxOutputTokens ? { max_output_tokens: maxOutputTokens } : {}),
    ...(mode ? { mode } : {}),
  }
}

export function modelObjectOf({ id, createdAt, ownedBy, facts, targets }: ModelEntry): z.input<typeof modelObject> {
  const prices = facts.price ? pricingOf(facts.price) : null
  return {
    id,
    object: 'model',
    created: Math.floor(createdAt / 1000),
    owned_by: ownedBy,
    ...factsOf(facts),
    capabilities: facts.capabilities,
    ...(prices ? { pricing: prices } : {}),
    ...(targets ? { targets: [...targets] } : {}),
  }
}

export function groupInfoOf({ id, providers, facts }: ModelEntry): z.input<typeof groupInfo> {
  const flags = Object.entries(facts.capabilities).map(([name, value]) => [`supports_${name}`, value])
  return { model_group: id, providers: [...providers], ...factsOf(facts), ...Object.fromEntries(flags) }
}

function pricingOf({ input, output, cacheRead, cacheWrite }: TokenPrices): z.input<typeof pricing> | null {
  const shown = { input, output, cache_read: cacheRead, cache_write: cacheWrite }
  const known = Object.entries(shown).flatMap(([name, nano]) => (nano ? [[name, nano / 1e9]] : []))
  return known.length === 0 ? null : { ...Object.fromEntries(known), unit: 'per_1m_tokens' as const }
}
