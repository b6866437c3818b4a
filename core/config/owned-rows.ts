// The columns that record whether the file or the API owns a row: `managed_by`, `config_key`, `declared`, `archived_at`.
import { sql } from '../db/sql.ts'
import type { ResourceRow } from '../types/plugin/resource.ts'
import type { Sql } from '../types/ports/db.ts'

export interface OwnedColumns {
  readonly id: number
  readonly managed_by: 'config' | 'api'
  readonly config_key: string | null
  readonly declared: string | null
  readonly archived_at: number | null
}

/** The entry of the file that a row is made from. */
export interface Declaration {
  readonly config_key: string
  readonly declared: string
}

/** Returns a row as reconciliation sees it. */
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

/** Returns the first assignments of an UPDATE: the file takes the row over or declares it again, and the row becomes active. */
export function ownership(declaration: Declaration | undefined): Sql {
  if (declaration === undefined) return sql.empty
  return sql`managed_by = 'config', config_key = ${declaration.config_key}, declared = ${declaration.declared}, archived_at = NULL,`
}
