// The service `accounts` over the view: a list that is rebuilt when rows change, with the members that other plugins add to records.
import type { View } from '../../core/types/db.ts'
import type { Connection } from '../../core/types/provider.ts'
import type { OpenConnection } from './opened.ts'
import type { Account, AccountExtension, AccountService } from './service.ts'

export interface Accounts extends AccountService {
  stateOf(connection: Connection): Record<string, unknown>
  /** Returns the first plugin's test model. */
  testModelOf(connection: Connection): string | null
}

export function accountsOf(view: View<readonly OpenConnection[]>): Accounts {
  const extensions = new Set<AccountExtension>()
  let accounts = view.current.map(accountOf)
  view.watch((entries) => {
    accounts = entries.map(accountOf)
  })
  return {
    list: () => accounts,
    named: (name) => accounts.find((account) => account.name === name),
    extend(extension) {
      extensions.add(extension)
      return () => void extensions.delete(extension)
    },
    stateOf: (connection) => Object.assign({}, ...[...extensions].map(({ state }) => state?.(connection))),
    testModelOf(connection) {
      for (const { testModel } of extensions) {
        const model = testModel?.(connection)
        if (model) return model
      }
      return null
    },
  }
}

function accountOf({ connection, row, enabled }: OpenConnection): Account {
  return {
    connection,
    name: row.managed_by === 'config' ? row.config_key : null,
    orgId: row.org_id === 0 ? null : row.org_id,
    enabled,
    metadata: row.metadata,
    authType: row.auth_type,
    createdAt: row.created_at,
  }
}
