import type { Migration } from '../../core/types/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-responses-state',
    up: `
      CREATE TABLE responses_state (
        token TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        key_id {{int}} NOT NULL,
        parent TEXT,
        created_at {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        bytes {{int}} NOT NULL,
        turn_sealed TEXT NOT NULL
      );
      CREATE INDEX responses_state_expires ON responses_state (expires_at);
    `,
  },
  {
    id: '002-responses-state-head',
    up: 'ALTER TABLE responses_state ADD COLUMN head_sealed TEXT;',
  },
]
