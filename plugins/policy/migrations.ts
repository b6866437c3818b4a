import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-policies',
    up: `
      CREATE TABLE policy (
        provider_id TEXT PRIMARY KEY,
        mode TEXT NOT NULL DEFAULT 'auto',
        verdict TEXT,
        reason TEXT,
        observed_at {{int}}
      );
    `,
  },
]
