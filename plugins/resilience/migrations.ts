import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-state',
    belonging: {
      resilience_state: { column: 'connection_id', table: 'connections', key: 'id' },
      resilience_locks: { column: 'connection_id', table: 'connections', key: 'id' },
    },
    up: `
      CREATE TABLE resilience_state (
        connection_id TEXT PRIMARY KEY,
        cooldown_until {{int}},
        level {{int}} NOT NULL DEFAULT 0,
        quota_until {{int}},
        last_error TEXT,
        last_used_at {{int}},
        cleared_at {{int}} NOT NULL DEFAULT 0,
        updated_at {{int}} NOT NULL
      );
      CREATE TABLE resilience_locks (
        connection_id TEXT NOT NULL,
        model TEXT NOT NULL,
        until {{int}} NOT NULL,
        reason TEXT NOT NULL,
        level {{int}} NOT NULL,
        PRIMARY KEY (connection_id, model)
      );
    `,
  },
]
