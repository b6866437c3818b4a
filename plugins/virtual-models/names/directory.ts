// Indexes rows in memory. The index is built when rows change, so that a request needs one look-up.
import type { CompiledModel, ProviderId } from '../planning/compiled-model.ts'
import { recipeOf } from '../planning/compiled-model.ts'
import type { VirtualModel, VirtualModelService } from '../service.ts'
import type { VirtualModelRow } from '../store.ts'

export interface Directory extends VirtualModelService {
  compiled(orgId: number | null, name: string): CompiledModel | null
  compiledModels(orgId: number | null): readonly CompiledModel[]
}

interface Organization {
  readonly list: readonly VirtualModel[]
  readonly compiledModels: ReadonlyMap<string, CompiledModel>
}

export function directoryOf(models: readonly VirtualModel[], providerId: ProviderId): Directory {
  const byId = new Map(models.map((model) => [model.id, model]))
  const byName = new Map<string, VirtualModel>()
  const organizations = new Map<number | null, Organization>()
  for (const orgId of new Set(models.map((model) => model.orgId))) {
    const list = models.filter((model) => model.orgId === orgId)
    organizations.set(orgId, { list, compiledModels: new Map(list.map((model) => [model.name, recipeOf(model, providerId)])) })
  }
  for (const model of models) byName.set(`${model.orgId} ${model.name}`, model)
  return {
    list: (orgId) => organizations.get(orgId)?.list ?? [],
    get: (orgId, id) => {
      const found = byId.get(id)
      return found?.orgId === orgId ? found : null
    },
    named: (orgId, name) => byName.get(`${orgId} ${name}`) ?? null,
    compiled: (orgId, name) => organizations.get(orgId)?.compiledModels.get(name) ?? null,
    compiledModels: (orgId) => [...(organizations.get(orgId)?.compiledModels.values() ?? [])],
  }
}

export function virtualModel(row: VirtualModelRow): VirtualModel {
  const { id, name, strategy, modality, enabled, position, targets, config, description } = row
  return {
    id,
    orgId: row.org_id === 0 ? null : row.org_id,
    name,
    strategy,
    modality,
    enabled,
    position,
    targets,
    config,
    description,
    managedBy: row.managed_by,
    configKey: row.config_key,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
