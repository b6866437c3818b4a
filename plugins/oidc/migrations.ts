import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-used',
    // Hashes of states and codes that came back once. Replicas share them.
    up: `
      CREATE TABLE oidc_used (
        hash TEXT NOT NULL PRIMARY KEY,
        expires_at {{int}} NOT NULL
      );
    `,
  },
]
