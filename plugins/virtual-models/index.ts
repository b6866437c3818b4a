// Virtual models: named routing recipes as rows, from gateway.config.ts (SPEC "Virtual model").
import { definePlugin } from '../../core/plugins/define.ts'
import { migrations } from './migrations.ts'
import { virtualModelResource } from './resource.ts'
import type { VirtualModel } from './service.ts'
import { livingVirtualModels, type VirtualModelRow } from './store.ts'

/** Provides the service `virtualModels`. */
export const virtualModels = definePlugin({
  name: 'virtual-models',
  requires: ['connections'],
  migrations,
  async setup(gateway) {
    const view = await gateway.view('living', async (db) => directoryOf((await livingVirtualModels(db)).map(virtualModel)))
    gateway.provide('virtualModels', {
      list: (orgId) => view.current.lists.get(orgId) ?? [],
      get: (orgId, id) => {
        const found = view.current.byId.get(id)
        return found?.orgId === orgId ? found : null
      },
      named: (orgId, name) => view.current.byName.get(nameKey(orgId, name)) ?? null,
    })
    gateway.resource(virtualModelResource(gateway as never, view))
  },
})

interface Directory {
  readonly lists: ReadonlyMap<number | null, readonly VirtualModel[]>
  readonly byId: ReadonlyMap<number, VirtualModel>
  readonly byName: ReadonlyMap<string, VirtualModel>
}

const nameKey = (orgId: number | null, name: string): string => `${orgId} ${name}`

/** Made when rows change, so that a request pays one look-up. */
function directoryOf(models: readonly VirtualModel[]): Directory {
  return {
    lists: new Map(
      [...new Set(models.map(({ orgId }) => orgId))].map((orgId) => [orgId, models.filter((model) => model.orgId === orgId)]),
    ),
    byId: new Map(models.map((model) => [model.id, model])),
    byName: new Map(models.map((model) => [nameKey(model.orgId, model.name), model])),
  }
}

function virtualModel(row: VirtualModelRow): VirtualModel {
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

export default virtualModels
