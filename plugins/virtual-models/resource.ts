// The section `virtualModels` of gateway.config.ts.
import { resourceRow } from '../../core/config/owned-rows.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { View } from '../../core/types/ports/db.ts'
import { type DeclaredVirtualModel, declaredVirtualModel, unknownProvider } from './fields.ts'
import type { Strategy, VirtualModelConfig } from './service.ts'
import {
  archiveVirtualModel,
  declaredVirtualModels,
  insertVirtualModel,
  updateVirtualModel,
  type VirtualModelFields,
} from './store.ts'

/** `provider/model`, or an object with more members. The object has `target`, `model`, or `provider` and `model`. */
export type VirtualTargetConfig =
  | string
  | {
      target?: string
      provider?: string
      model?: string
      /** For `weighted`; default 1, 0 = only when all others fail. */
      weight?: number
      connectionId?: number | null
      enabled?: boolean
      /** For a step of a pipeline. */
      instruction?: string | null
      params?: Record<string, unknown> | null
    }

/** A virtual model in the file; its key is its name unless it sets another. */
export interface VirtualModelDeclaration {
  /** For names with a slash or a colon. */
  name?: string
  strategy: Strategy
  targets: VirtualTargetConfig[]
  modality?: 'text' | 'image'
  enabled?: boolean
  /** The lowest number is listed first. */
  position?: number
  description?: string
  config?: Partial<VirtualModelConfig>
  /** Takes over the virtual model with this name that the API created. */
  adopt?: boolean
}

declare module '../../core/config/define.ts' {
  interface ConfigSections {
    virtualModels: Record<string, VirtualModelDeclaration>
  }
}

/** New and changed rows need a provider with a connection; existing rows are not checked again. */
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
