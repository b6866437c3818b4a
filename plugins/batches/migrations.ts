import type { Migration } from '../../core/types/ports/db.ts'

// Bodies and results are sealed under the organization's key. An item belongs to the process that holds its lease.
export const migrations: Migration[] = [
  {
    id: '001-batches',
    belonging: { batches_items: { column: 'batch_id', table: 'batches', key: 'id' } },
    up: `
      CREATE TABLE batches (
        id TEXT PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        key_id {{int}},
        endpoint TEXT NOT NULL,
        status TEXT NOT NULL,
        metadata TEXT,
        total {{int}} NOT NULL,
        created_at {{int}} NOT NULL,
        started_at {{int}},
        cancelling_at {{int}},
        ended_at {{int}},
        expires_at {{int}} NOT NULL
      );
      CREATE INDEX batches_owner ON batches (org_id, key_id, created_at, id);
      CREATE INDEX batches_open ON batches (status, created_at);
      CREATE TABLE batches_items (
        batch_id TEXT NOT NULL,
        seq {{int}} NOT NULL,
        custom_id TEXT NOT NULL,
        url TEXT NOT NULL,
        state TEXT NOT NULL,
        not_before {{int}} NOT NULL DEFAULT 0,
        claims {{int}} NOT NULL DEFAULT 0,
        lease_owner TEXT,
        lease_until {{int}} NOT NULL DEFAULT 0,
        status_code {{int}},
        body_sealed TEXT,
        result_sealed TEXT,
        PRIMARY KEY (batch_id, seq)
      );
      CREATE INDEX batches_items_work ON batches_items (state, not_before);
    `,
  },
]
