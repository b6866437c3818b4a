import type { Migration } from '../../core/types/ports/db.ts'

// A receipt is written with its request and gets its place in the chain (seq, prev_hash, hash) shortly afterwards.
export const migrations: Migration[] = [
  {
    id: '001-receipts',
    up: `
      CREATE TABLE savings_receipts (
        request_id TEXT NOT NULL,
        source TEXT NOT NULL,
        org_id {{int}} NOT NULL DEFAULT 0,
        seq {{int}},
        at {{int}} NOT NULL,
        provider TEXT,
        model TEXT,
        key_id {{int}},
        virtual_model TEXT,
        cost_center TEXT,
        user_id TEXT,
        usage_source TEXT NOT NULL,
        tokens_before {{int}} NOT NULL,
        tokens_after {{int}} NOT NULL,
        tokens_saved {{int}} NOT NULL,
        usd_saved_nano {{int}} NOT NULL,
        method TEXT NOT NULL,
        details TEXT NOT NULL,
        price_ref TEXT,
        prev_hash TEXT,
        hash TEXT,
        PRIMARY KEY (request_id, source)
      );
      CREATE UNIQUE INDEX savings_receipts_seq ON savings_receipts (org_id, seq);
      CREATE INDEX savings_receipts_at ON savings_receipts (org_id, at);
      CREATE INDEX savings_receipts_unchained ON savings_receipts (org_id) WHERE seq IS NULL;

      CREATE TABLE savings_chains (
        org_id {{int}} NOT NULL PRIMARY KEY,
        head_seq {{int}} NOT NULL,
        head_hash TEXT NOT NULL,
        anchor_seq {{int}} NOT NULL,
        anchor_hash TEXT NOT NULL
      );
    `,
  },
]
