import type { Migration } from '../../core/types/ports/db.ts'
import { GENESIS } from './chain.ts'

export const migrations: Migration[] = [
  {
    id: '001-chain',
    up: `
      CREATE TABLE audit_log (
        seq {{int}} PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        at {{int}} NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        target TEXT,
        details TEXT NOT NULL,
        ip TEXT,
        prev_hash TEXT NOT NULL,
        hash TEXT NOT NULL
      );
      CREATE INDEX audit_log_at ON audit_log (at);
      CREATE TABLE audit_state (
        id {{int}} PRIMARY KEY,
        head_seq {{int}} NOT NULL,
        head_hash TEXT NOT NULL,
        anchor_seq {{int}} NOT NULL,
        anchor_hash TEXT NOT NULL,
        exported_seq {{int}} NOT NULL
      );
      INSERT INTO audit_state (id, head_seq, head_hash, anchor_seq, anchor_hash, exported_seq)
        VALUES (1, 0, '${GENESIS}', 0, '${GENESIS}', 0);
    `,
  },
]
