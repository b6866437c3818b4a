// The service `accounts` over the view: a list that is rebuilt when rows change, with the members that other plugins add to records.

import type { View } from '../../core/types/ports/db.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Awaitable } from '../../core/types/request/canonical.ts'
import type { OpenConnection } from './opened.ts'
import type { Account, AccountExtension, AccountService, CredentialSource } from './service.ts'

export interface Accounts extends Omit<AccountService, 'refresh' | 'signedIn' | 'signedOut'> {
  /** Returns the credential of a connection with a sign-in; null without a plugin that signs in. */
  credentialOf(connection: Connection): Awaitable<string | null>
  stateOf(connection: Connection): Record<string, unknown>
  /** Returns the first plugin's test model. */
  testModelOf(connection: Connection): string | null
}

export function accountsOf(view: View<readonly OpenConnection[]>): Accounts {
  let source: CredentialSource | null = null
  const extensions = new Set<AccountExtension>()
  let accounts = view.current.map(accountOf)
  view.watch((entries) => {
    accounts = entries.map(accountOf)
  })
  return {
    list: () => accounts,
    named: (name) => accounts.find((account) => account.name === name),
    signIns(given) {
      source = given
      return () => {
        if (source === given) source = null
      }
    },
    credentialOf: (connection) => source?.credentialOf(connection) ?? null,
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
