import type { Migration } from '../../core/types/ports/db.ts'

// Each index costs every request, and one by model as much as all others together (docs/performance.md). So there is one index for pages,
// which grows only at its end and contains the most common filters. Small indexes cover failures, and the users and sessions that
// requests name; they cost nothing for other requests. In the bodies table the columns for retention come before the long texts, so that
// retention does not read the texts.
export const migrations: Migration[] = [
  {
    id: '001-request-log',
    up: `
      CREATE TABLE request_log (
        id {{id}},
        request_id TEXT NOT NULL,
        org_id {{int}} NOT NULL DEFAULT 0,
        created_at {{int}} NOT NULL,
        source TEXT NOT NULL,
        endpoint TEXT,
        wire_format TEXT NOT NULL,
        key_id {{int}},
        key_label TEXT,
        user_id TEXT,
        session_id TEXT,
        cost_center TEXT,
        provider TEXT,
        connection_id TEXT,
        model TEXT,
        requested_model TEXT NOT NULL,
        virtual_model TEXT,
        stream {{int}} NOT NULL,
        status {{int}} NOT NULL,
        error_code TEXT,
        error_message TEXT,
        latency_ms {{int}} NOT NULL,
        ttft_ms {{int}},
        tokens_prompt {{int}} NOT NULL,
        tokens_completion {{int}} NOT NULL,
        tokens_cache_read {{int}} NOT NULL,
        tokens_cache_write {{int}} NOT NULL,
        tokens_reasoning {{int}} NOT NULL,
        cost_nano {{int}},
        charge_nano {{int}},
        cached TEXT,
        free_pool {{int}} NOT NULL DEFAULT 0,
        attempts {{int}} NOT NULL,
        attempts_json TEXT,
        properties_json TEXT,
        req_bytes {{int}} NOT NULL
      );
      CREATE UNIQUE INDEX request_log_request ON request_log (request_id);
      CREATE INDEX request_log_page ON request_log (org_id, created_at, id, provider, model, key_id);
      CREATE INDEX request_log_errors ON request_log (org_id, created_at, id) WHERE status >= 400;
      CREATE TABLE request_log_bodies (
        id {{id}},
        request_id TEXT NOT NULL UNIQUE,
        org_id {{int}} NOT NULL DEFAULT 0,
        created_at {{int}} NOT NULL,
        bytes {{int}} NOT NULL,
        request_truncated {{int}} NOT NULL,
        response_truncated {{int}} NOT NULL,
        request_sealed TEXT,
        response_sealed TEXT
      );
      CREATE TABLE request_log_totals (
        id {{int}} PRIMARY KEY,
        body_bytes {{int}} NOT NULL
      );
      INSERT INTO request_log_totals (id, body_bytes) VALUES (1, 0);
    `,
  },
  { id: '002-notes', up: 'ALTER TABLE request_log ADD COLUMN notes_json TEXT' },
  {
    id: '003-who',
    up: `
      CREATE INDEX request_log_user ON request_log (org_id, user_id, created_at, id) WHERE user_id IS NOT NULL;
      CREATE INDEX request_log_session ON request_log (org_id, session_id, created_at, id) WHERE session_id IS NOT NULL;
    `,
  },
]
