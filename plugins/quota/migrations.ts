import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-snapshots',
    belonging: {
      quota_snapshots: { column: 'connection_id', table: 'connections', key: 'id' },
      quota_exhausted: { column: 'connection_id', table: 'connections', key: 'id' },
    },
    up: `
      CREATE TABLE quota_snapshots (
        connection_id {{int}} PRIMARY KEY,
        plan TEXT,
        windows TEXT NOT NULL,
        source TEXT NOT NULL,
        fetched_at {{int}} NOT NULL,
        error TEXT
      );
      CREATE TABLE quota_exhausted (
        connection_id {{int}} NOT NULL,
        model TEXT NOT NULL,
        until {{int}} NOT NULL,
        PRIMARY KEY (connection_id, model)
      );
    `,
  },
]
