import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-pools',
    up: `
      CREATE TABLE proxy_pools (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        name TEXT NOT NULL,
        proxy_url TEXT,
        no_proxy TEXT NOT NULL DEFAULT '',
        enabled {{int}} NOT NULL DEFAULT 1,
        strict {{int}} NOT NULL DEFAULT 0,
        last_test TEXT,
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL
      );
      CREATE INDEX proxy_pools_org ON proxy_pools (org_id);
      CREATE TABLE proxy_pools_assigned (
        connection_id {{int}} PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        pool_id {{int}} NOT NULL
      );
    `,
  },
]
