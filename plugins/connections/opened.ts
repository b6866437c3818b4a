// Opens rows as connections with secrets in memory. Secrets of file-owned rows come from the file; those rows have only the id.
import type { ConfiguredConnection } from '../../core/config/connections.ts'
import type { Vault } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { ConnectionRow } from './store.ts'

export interface OpenConnection extends ConfiguredConnection {
  readonly row: ConnectionRow
  /** True when its secrets do not open: it is listed and not used. */
  readonly unreadable?: true
}

// Seals and opens the secret columns of a connection. A value opens only in its own row and column.
type SecretColumn = 'secret' | 'proxy_url' | 'headers'
type SecretColumns = { id: number; org_id: number } & { readonly [column in SecretColumn]: string | null }

export interface Sealer {
  /** null stays null. Call `prepare` before, outside the transaction. */
  seal(plain: string | null, column: SecretColumn, id: number, orgId: number | null): Promise<string | null>
  /** @throws Error when the value was altered, or moved from another row or column. */
  open(row: SecretColumns, column: SecretColumn): Promise<string | null>
  prepare(orgId: number | null): Promise<void>
}

export function sealerOf(vault: Vault): Sealer {
  const at = (column: SecretColumn, id: number, orgId: number | null) => ({ table: 'connections', id, column, orgId })
  return {
    prepare: (orgId) => vault.prepare(orgId),
    seal: async (plain, column, id, orgId) => (plain === null ? null : vault.seal(plain, at(column, id, orgId))),
    async open(row, column) {
      const sealed = row[column]
      return sealed === null ? null : vault.open(sealed, at(column, row.id, row.org_id === 0 ? null : row.org_id))
    },
  }
}

/** @throws Error when a sealed value does not open; the caller decides whether the other rows are used. */
export async function openRow(
  row: ConnectionRow,
  declared: ReadonlyMap<string, ConfiguredConnection>,
  sealer: Sealer,
): Promise<OpenConnection | null> {
  if (row.managed_by === 'config') {
    const entry = declared.get(row.config_key ?? '')
    // It was declared in another version of the file, which this process does not have.
    return entry === undefined ? null : { ...entry, connection: { ...entry.connection, id: String(row.id) }, row }
  }
  const connection: Connection = {
    ...plainOf(row),
    proxyUrl: await sealer.open(row, 'proxy_url'),
    headers: JSON.parse((await sealer.open(row, 'headers')) ?? '{}') as Record<string, string>,
  }
  return { connection, row, enabled: row.enabled, secret: await sealer.open(row, 'secret') }
}

export function unreadableRow(row: ConnectionRow): OpenConnection {
  return { connection: { ...plainOf(row), proxyUrl: null, headers: {} }, row, enabled: false, secret: null, unreadable: true }
}

function plainOf(row: ConnectionRow): Omit<Connection, 'proxyUrl' | 'headers'> {
  return {
    id: String(row.id),
    provider: row.provider,
    baseUrl: row.base_url,
    label: row.label,
    wireFormat: row.wire_format,
    allowedModels: row.allowed_models,
    priority: row.priority,
    maxInflight: row.max_inflight,
    defaultModel: row.default_model,
    caps: row.caps,
    ...(row.auth_type === 'oauth' ? { bearer: true } : {}),
  }
}
