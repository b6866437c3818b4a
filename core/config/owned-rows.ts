// The columns by which a table's rows belong to the file or to the API: `managed_by`, `config_key`, `declared`, `archived_at`.
import { sql } from '../db/sql.ts'
import type { Sql } from '../types/db.ts'
import type { ResourceRow } from '../types/resource.ts'

export interface OwnedColumns {
  readonly id: number
  readonly managed_by: 'config' | 'api'
  readonly config_key: string | null
  readonly declared: string | null
  readonly archived_at: number | null
}

/** The entry of the file a row is made from. */
export interface Declaration {
  readonly config_key: string
  readonly declared: string
}

/** A row as reconciliation sees it. */
export function resourceRow(row: OwnedColumns, name: string): ResourceRow {
  return {
    id: row.id,
    name,
    managedBy: row.managed_by,
    configKey: row.config_key,
    declared: row.declared,
    archived: row.archived_at !== null,
  }
}

/** In front of the other assignments of an UPDATE: the file takes the row over, or declares it again, and it becomes active. */
export function ownership(declaration: Declaration | undefined): Sql {
  if (declaration === undefined) return sql.empty
  return sql`managed_by = 'config', config_key = ${declaration.config_key}, declared = ${declaration.declared}, archived_at = NULL,`
}
