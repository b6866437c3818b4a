import type { Migration } from '../../core/types/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-endpoints',
    up: `
      CREATE TABLE webhooks_endpoints (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        public_id TEXT NOT NULL UNIQUE,
        url TEXT NOT NULL,
        event_types TEXT NOT NULL DEFAULT '[]',
        format TEXT NOT NULL DEFAULT 'standard',
        enabled {{int}} NOT NULL DEFAULT 1,
        secret TEXT,
        previous_secret TEXT,
        previous_secret_until {{int}},
        failing_since {{int}},
        auto_disabled_at {{int}},
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL,
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        archived_at {{int}}
      );
      CREATE UNIQUE INDEX webhooks_endpoints_config_key ON webhooks_endpoints (org_id, config_key);
    `,
  },
]
