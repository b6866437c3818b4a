import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-shadow-eval',
    up: `
      CREATE TABLE shadow_eval_samples (
        id {{id}},
        org_id {{int}} NOT NULL,
        key_id {{int}} NOT NULL,
        user_id TEXT,
        request_id TEXT NOT NULL,
        at {{int}} NOT NULL,
        virtual_model TEXT,
        served_model TEXT NOT NULL,
        served_cost_nano {{int}} NOT NULL,
        challenger TEXT NOT NULL,
        challenger_connection TEXT,
        challenger_cost_nano {{int}},
        score_cost_nano {{int}},
        state TEXT NOT NULL,
        tries {{int}} NOT NULL DEFAULT 0,
        due_at {{int}} NOT NULL,
        score DOUBLE PRECISION,
        method TEXT,
        latency_ms {{int}},
        error TEXT,
        payload_sealed TEXT,
        expires_at {{int}} NOT NULL
      );
      CREATE UNIQUE INDEX shadow_eval_samples_request ON shadow_eval_samples (request_id);
      CREATE INDEX shadow_eval_samples_due ON shadow_eval_samples (state, due_at);
      CREATE INDEX shadow_eval_samples_org ON shadow_eval_samples (org_id, id);
      CREATE INDEX shadow_eval_samples_expires ON shadow_eval_samples (expires_at);
      CREATE TABLE shadow_eval_days (
        day TEXT NOT NULL PRIMARY KEY,
        spent_nano {{int}} NOT NULL,
        reserved_nano {{int}} NOT NULL
      );
    `,
  },
]
