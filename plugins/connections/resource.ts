// Stores `connections` of gateway.config.ts as rows, which give a declared connection the id that usage and budgets refer to.
import { z } from 'zod'
import type { ConfiguredConnection } from '../../core/config/connections.ts'
import { resourceRow } from '../../core/config/owned-rows.ts'
import { maskUrl } from '../../core/text/sanitize.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { ResourceKind } from '../../core/types/plugin/resource.ts'
import type { View } from '../../core/types/ports/db.ts'
import { archiveConnection, type ConnectionFields, declaredConnections, insertConnection, updateConnection } from './store.ts'

export function connectionResource(gateway: PluginGateway, view: View<unknown>): ResourceKind<unknown> {
  const configuration = gateway.use('configuration')
  const configured = (key: string): ConfiguredConnection => {
    const found = configuration.connections.find(({ connection }) => connection.id === key)
    if (found === undefined) throw new Error(`connections.${key} is not in the configuration.`)
    return found
  }
  const now = () => gateway.clock.now()
  return {
    section: 'connections',
    // Core has validated it, because it has the registry.
    schema: z.unknown(),
    view,
    nameOf: (key) => `${configured(key).connection.provider}/${configured(key).connection.label}`,
    rows: async (db) => (await declaredConnections(db)).map((row) => resourceRow(row, `${row.provider}/${row.label}`)),
    insert: async (db, key, _entry, declared) => {
      await insertConnection(db, null, fieldsOf(configured(key)), now(), { config_key: key, declared })
    },
    update: async (db, row, key, _entry, declared) => {
      await updateConnection(db, null, row.id, fieldsOf(configured(key)), now(), { config_key: key, declared })
    },
    archive: async (db, row) => {
      await archiveConnection(db, null, row.id, now())
    },
  }
}

/** Without secrets: those stay references in the file. */
function fieldsOf({ connection, enabled, metadata }: ConfiguredConnection): ConnectionFields {
  return {
    provider: connection.provider,
    label: connection.label,
    wire_format: connection.wireFormat,
    base_url: connection.baseUrl === null ? null : maskUrl(connection.baseUrl),
    secret: null,
    secret_hint: null,
    priority: connection.priority,
    enabled,
    allowed_models: [...connection.allowedModels],
    default_model: connection.defaultModel,
    max_inflight: connection.maxInflight,
    proxy_url: null,
    headers: null,
    metadata: metadata ?? {},
    caps: connection.caps ?? null,
  }
}
