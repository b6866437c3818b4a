import type { Migration } from '../../core/types/ports/db.ts'

// The card is one row, because every replica reads and replaces it as a whole.
export const migrations: Migration[] = [
  {
    id: '001-pricing',
    up: `
      CREATE TABLE pricing_card (
        id {{int}} PRIMARY KEY,
        run_id {{int}} NOT NULL,
        models TEXT NOT NULL
      );
      CREATE TABLE pricing_sources (
        source TEXT PRIMARY KEY,
        run_id {{int}} NOT NULL,
        ref TEXT,
        url TEXT NOT NULL,
        etag TEXT,
        fetched_at {{int}} NOT NULL,
        confirmed_at {{int}} NOT NULL
      );
      CREATE TABLE pricing_overrides (
        org_id {{int}} NOT NULL DEFAULT 0,
        pattern TEXT NOT NULL,
        position {{int}} NOT NULL,
        prices TEXT NOT NULL,
        updated_at {{int}} NOT NULL,
        updated_by TEXT NOT NULL,
        PRIMARY KEY (org_id, pattern)
      );
      CREATE TABLE pricing_drift (
        id {{id}},
        run_id {{int}} NOT NULL,
        provider TEXT NOT NULL,
        model TEXT NOT NULL,
        field TEXT NOT NULL,
        old_nano {{int}} NOT NULL,
        new_nano {{int}} NOT NULL,
        detected_at {{int}} NOT NULL,
        reviewed_at {{int}},
        reviewed_by TEXT
      );
      CREATE TABLE pricing_runs (
        id {{id}},
        reason TEXT NOT NULL,
        status TEXT NOT NULL,
        source TEXT,
        ref TEXT,
        models {{int}} NOT NULL DEFAULT 0,
        changed {{int}} NOT NULL DEFAULT 0,
        drifted {{int}} NOT NULL DEFAULT 0,
        refused {{int}} NOT NULL DEFAULT 0,
        error TEXT,
        started_at {{int}} NOT NULL,
        finished_at {{int}},
        lease_until {{int}} NOT NULL
      );
    `,
  },
]
