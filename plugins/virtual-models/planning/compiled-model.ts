// The compiled form of a virtual model, rebuilt when rows change. Rows, names of GATEWAY_ROUTES and `auto` share it.
import type { Target } from '../../../core/types/request/context.ts'
import { DEFAULT_CONFIG } from '../fields.ts'
import type { Strategy, VirtualModel, VirtualModelConfig } from '../service.ts'

/** `listed_price`: for GATEWAY_ROUTES, by input and output price together. */
export type Ordering = Strategy | 'listed_price'

/** Provider ids, not aliases; candidates carry the object through the pipeline. */
export interface CompiledTarget extends Target {
  /** `provider/model`, created once; facts are looked up by it. */
  readonly id: string
  readonly instruction: string | null
  readonly params: VirtualModel['targets'][number]['params']
}

export interface CompiledModel {
  readonly name: string
  /** Key of rotation and sessions. */
  readonly id: string
  readonly orgId: number | null
  readonly ordering: Ordering
  readonly modality: 'text' | 'image'
  readonly enabled: boolean
  /** Hash of the targets: the rotation restarts when it changes. */
  readonly version: string
  /** Enabled targets only. */
  readonly targets: readonly CompiledTarget[]
  readonly config: VirtualModelConfig
  /** Epoch ms. */
  readonly createdAt: number
  /** The message of the 400 while it has no target; absent: a general one. */
  readonly unavailable?: string
}

/** Returns the id of a provider's id or alias. */
export type ProviderId = (provider: string) => string

export function recipeOf(model: VirtualModel, providerId: ProviderId): CompiledModel {
  const { name, id, orgId, strategy, modality, enabled, config, createdAt } = model
  const targets = model.targets.filter((target) => target.enabled).map((target) => recipeTarget(target, providerId))
  const version = JSON.stringify(targets)
  return { name, id: `row:${id}`, orgId, ordering: strategy, modality, enabled, version, targets, config, createdAt }
}

export function recipeTarget(target: VirtualModel['targets'][number], providerId: ProviderId): CompiledTarget {
  const { provider, model, connectionId, weight, instruction, params } = target
  const own = providerId(provider)
  return {
    id: `${own}/${model}`,
    provider: own,
    model,
    connectionId: connectionId === null ? null : String(connectionId),
    weight,
    instruction,
    params,
  }
}

export function plainTarget(provider: string, model: string): CompiledTarget {
  return { id: `${provider}/${model}`, provider, model, connectionId: null, weight: 1, instruction: null, params: null }
}

/** The built-in model that chooses its targets itself. */
export const AUTO = 'auto'

/** For virtual models without a row. */
export const PLAIN_CONFIG: VirtualModelConfig = DEFAULT_CONFIG
