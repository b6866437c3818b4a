// Converts the service tier of an answer to the values that OpenAI's two dialects allow.
import type { Frozen, JsonObject } from '../../../core/types/request/canonical.ts'

const TIERS: readonly string[] = ['auto', 'default', 'flex', 'scale', 'priority']

/** Returns undefined for a tier that the published schemas do not have. */
export function openAiTier(tier: string | undefined): string | undefined {
  if (tier === 'standard') return 'default'
  return tier !== undefined && TIERS.includes(tier) ? tier : undefined
}

/** Returns the members of a vendor's answer with a valid tier; the same object when it is valid already. */
export function withOpenAiTier<T extends Frozen<JsonObject>>(own: T | undefined): T | undefined {
  const tier = own?.service_tier ?? null
  if (own === undefined || tier === null) return own
  const known = typeof tier === 'string' ? openAiTier(tier) : undefined
  if (known === tier) return own
  const { service_tier: _, ...rest } = own
  return (known === undefined ? rest : { ...own, service_tier: known }) as unknown as T
}
