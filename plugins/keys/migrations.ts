import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-keys',
    up: `
      CREATE TABLE keys (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        label TEXT NOT NULL,
        mac TEXT NOT NULL,
        last4 TEXT NOT NULL,
        allowed_models TEXT NOT NULL DEFAULT '[]',
        rate_limit_rpm {{int}},
        rate_limit_tpm {{int}},
        cost_center TEXT,
        session_budget_nano {{int}},
        expires_at {{int}},
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL,
        revoked_at {{int}},
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        archived_at {{int}}
      );
      CREATE UNIQUE INDEX keys_mac ON keys (mac) WHERE revoked_at IS NULL AND archived_at IS NULL;
      CREATE UNIQUE INDEX keys_config_key ON keys (org_id, config_key);
    `,
  },
  { id: '002-guardrails-exempt', up: 'ALTER TABLE keys ADD COLUMN guardrails_exempt {{int}} NOT NULL DEFAULT 0' },
  { id: '003-created-by', up: 'ALTER TABLE keys ADD COLUMN created_by {{int}}' },
  { id: '004-shadow-opt-out', up: 'ALTER TABLE keys ADD COLUMN shadow_opt_out {{int}} NOT NULL DEFAULT 0' },
]
