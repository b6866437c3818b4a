import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-virtual-models',
    up: `
      CREATE TABLE virtual_models (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        name TEXT NOT NULL,
        strategy TEXT NOT NULL,
        modality TEXT NOT NULL DEFAULT 'text',
        enabled {{int}} NOT NULL DEFAULT 1,
        position {{int}} NOT NULL DEFAULT 0,
        targets TEXT NOT NULL,
        config TEXT NOT NULL DEFAULT '{}',
        description TEXT NOT NULL DEFAULT '',
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL,
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        archived_at {{int}}
      );
      CREATE UNIQUE INDEX virtual_models_name ON virtual_models (org_id, name) WHERE archived_at IS NULL;
      CREATE UNIQUE INDEX virtual_models_config_key ON virtual_models (org_id, config_key);
    `,
  },
]
