// `virtualModels` of gateway.config.ts.
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { ResourceKind } from '../../core/types/resource.ts'
import { type DeclaredVirtualModel, declaredVirtualModel, unknownProvider } from './fields.ts'
import type { Strategy, VirtualModelConfig } from './service.ts'
import {
  archiveVirtualModel,
  declaredVirtualModels,
  insertVirtualModel,
  updateVirtualModel,
  type VirtualModelFields,
} from './store.ts'

/** `provider/model`, or the same with more to say. Names one of `target`, `model`, or `provider` and `model`. */
export type VirtualTargetConfig =
  | string
  | {
      target?: string
      provider?: string
      model?: string
      /** For `weighted`; default 1, 0 = only when the others fail. */
      weight?: number
      connectionId?: number | null
      enabled?: boolean
      /** For a step of a pipeline. */
      instruction?: string | null
      params?: Record<string, unknown> | null
    }

/** A virtual model in the file; its key is its name unless it says another. */
export interface VirtualModelDeclaration {
  /** For names with a slash or a colon. */
  name?: string
  strategy: Strategy
  targets: VirtualTargetConfig[]
  modality?: 'text' | 'image'
  enabled?: boolean
  /** Lower first in lists. */
  position?: number
  description?: string
  config?: Partial<VirtualModelConfig>
  /** Takes over the virtual model of this name that was made through the API. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    virtualModels: Record<string, VirtualModelDeclaration>
  }
}

/** Rows are made and changed only for a provider that can be reached; a row that stands is not held against it again. */
export function virtualModelResource(gateway: PluginGateway, view: View<unknown>): ResourceKind<DeclaredVirtualModel> {
  const configuration = gateway.use('configuration')
  const connections = gateway.use('connections')
  const now = () => gateway.clock.now()
  const fields = (key: string, { name = key, ...entry }: DeclaredVirtualModel): VirtualModelFields => {
    for (const [index, { provider }] of entry.targets.entries()) {
      const known =
        configuration.known(provider) ||
        configuration.connections.some(({ connection }) => connection.provider === provider) ||
        connections.knows(provider)
      if (!known)
        throw new Error(
          `virtualModels.${key}.targets.${index}: ${unknownProvider(
            provider,
            configuration.connections.map(({ connection }) => connection),
          )}`,
        )
    }
    return { ...entry, name }
  }
  return {
    section: 'virtualModels',
    schema: declaredVirtualModel,
    view,
    nameOf: (key, entry) => entry.name ?? key,
    rows: async (db) => (await declaredVirtualModels(db)).map((row) => resourceRow(row, row.name)),
    insert: async (db, key, entry, declared) => {
      await insertVirtualModel(db, null, fields(key, entry), now(), { config_key: key, declared })
    },
    update: async (db, row, key, entry, declared) => {
      await updateVirtualModel(db, null, row.id, fields(key, entry), now(), { config_key: key, declared })
    },
    archive: async (db, row) => {
      await archiveVirtualModel(db, null, row.id, now())
    },
  }
}
