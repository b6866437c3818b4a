// Seals and opens the secret columns of a connection; a value opens in its own row and column only.
import type { Vault } from '../../core/types/ports.ts'

export type SecretColumn = 'secret' | 'proxy_url' | 'headers'
type SecretColumns = { id: number; org_id: number } & { readonly [column in SecretColumn]: string | null }

export interface Sealer {
  /** null stays null. `prepare` comes before, outside the transaction. */
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
