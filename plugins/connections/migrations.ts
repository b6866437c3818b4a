import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-connections',
    up: `
      CREATE TABLE connections (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        provider TEXT NOT NULL,
        label TEXT NOT NULL,
        auth_type TEXT NOT NULL DEFAULT 'api_key',
        wire_format TEXT,
        base_url TEXT,
        secret TEXT,
        secret_hint TEXT,
        priority {{int}} NOT NULL,
        enabled {{int}} NOT NULL DEFAULT 1,
        allowed_models TEXT NOT NULL DEFAULT '[]',
        default_model TEXT,
        max_inflight {{int}},
        proxy_url TEXT,
        headers TEXT,
        metadata TEXT NOT NULL DEFAULT '{}',
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL,
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        archived_at {{int}}
      );
      CREATE INDEX connections_provider ON connections (org_id, provider);
      CREATE UNIQUE INDEX connections_config_key ON connections (org_id, config_key);
    `,
  },
  { id: '002-caps', up: 'ALTER TABLE connections ADD COLUMN caps TEXT' },
]
