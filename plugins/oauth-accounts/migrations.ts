import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-accounts',
    // Tokens and the secrets of a login are sealed. One replica at a time refreshes an account: the one that holds the lease.
    up: `
      CREATE TABLE oauth_accounts (
        connection_id {{int}} NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        provider TEXT NOT NULL,
        subject TEXT,
        email TEXT,
        display_name TEXT,
        plan TEXT,
        scopes TEXT NOT NULL DEFAULT '[]',
        tokens TEXT NOT NULL,
        expires_at {{int}},
        refreshed_at {{int}} NOT NULL,
        status TEXT NOT NULL DEFAULT 'active',
        version {{int}} NOT NULL DEFAULT 1,
        lease_owner TEXT,
        lease_until {{int}} NOT NULL DEFAULT 0,
        created_at {{int}} NOT NULL
      );
      CREATE INDEX oauth_accounts_provider ON oauth_accounts (org_id, provider);
      CREATE TABLE oauth_accounts_logins (
        id TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        provider TEXT NOT NULL,
        kind TEXT NOT NULL,
        sealed TEXT NOT NULL,
        expires_at {{int}} NOT NULL,
        interval_ms {{int}} NOT NULL DEFAULT 0,
        next_poll_at {{int}} NOT NULL DEFAULT 0,
        outcome TEXT,
        connection_id {{int}}
      );
    `,
  },
]
