// Virtual models of other plugins, without a row: the service `systemModels`. A row or a name of GATEWAY_ROUTES with the same name takes
// precedence.
import { type CompiledModel, PLAIN_CONFIG } from '../planning/compiled-model.ts'
import type { SystemModel, SystemModelService, SystemModelSource } from '../service.ts'

export interface SystemModels extends SystemModelService {
  find(orgId: number | null, name: string): CompiledModel | null
  list(orgId: number | null): readonly CompiledModel[]
}

/** @param now epoch ms. */
export function systemModels(now: number): SystemModels {
  const sources = new Set<SystemModelSource>()
  /** A source returns the same object until the model changes. */
  const compiled = new WeakMap<SystemModel, CompiledModel>()
  const compiledOf = (model: SystemModel): CompiledModel => {
    let found = compiled.get(model)
    if (found === undefined) {
      found = compile(model, now)
      compiled.set(model, found)
    }
    return found
  }
  return {
    offer(source) {
      sources.add(source)
      return () => void sources.delete(source)
    },
    find(orgId, name) {
      for (const source of sources) {
        if (source.name !== name) continue
        return compiledOf(source.model(orgId))
      }
      return null
    },
    list: (orgId) => [...sources].map((source) => compiledOf(source.model(orgId))),
  }
}

function compile({ name, strategy, targets, unavailable }: SystemModel, now: number): CompiledModel {
  return {
    name,
    id: `system:${name}`,
    orgId: null,
    ordering: strategy,
    modality: 'text',
    enabled: true,
    version: JSON.stringify(targets),
    targets: targets.map((target) => ({ ...target, id: `${target.provider}/${target.model}`, instruction: null, params: null })),
    config: PLAIN_CONFIG,
    createdAt: now,
    unavailable,
  }
}
