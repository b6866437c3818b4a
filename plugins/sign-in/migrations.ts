import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-tokens',
    up: `
      CREATE TABLE sign_in_tokens (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        label TEXT NOT NULL,
        mac TEXT NOT NULL UNIQUE,
        last4 TEXT NOT NULL,
        scope TEXT NOT NULL,
        role TEXT NOT NULL,
        created_by TEXT NOT NULL,
        created_at {{int}} NOT NULL,
        expires_at {{int}},
        last_used_at {{int}},
        revoked_at {{int}}
      );
      CREATE TABLE sign_in_ended (
        jti TEXT PRIMARY KEY,
        expires_at {{int}} NOT NULL
      );
    `,
  },
  { id: '002-token-user', up: 'ALTER TABLE sign_in_tokens ADD COLUMN user_id {{int}}' },
]
