import type { Migration } from '../../core/types/ports/db.ts'

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
  {
    id: '002-deliveries',
    up: `
      CREATE TABLE webhooks_events (
        id TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        type TEXT NOT NULL,
        body TEXT NOT NULL,
        created_at {{int}} NOT NULL
      );

      CREATE TABLE webhooks_deliveries (
        seq {{id}},
        id TEXT NOT NULL UNIQUE,
        org_id {{int}} NOT NULL,
        endpoint_id TEXT NOT NULL,
        event_id TEXT NOT NULL,
        event_type TEXT NOT NULL,
        status TEXT NOT NULL DEFAULT 'pending',
        attempts {{int}} NOT NULL DEFAULT 0,
        first_attempt_at {{int}},
        next_attempt_at {{int}},
        lease_until {{int}} NOT NULL DEFAULT 0,
        lease_owner TEXT,
        last_status {{int}},
        last_error TEXT,
        created_at {{int}} NOT NULL,
        finished_at {{int}}
      );
      CREATE UNIQUE INDEX webhooks_deliveries_event ON webhooks_deliveries (event_id, endpoint_id);
      CREATE INDEX webhooks_deliveries_pending ON webhooks_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';
      CREATE INDEX webhooks_deliveries_finished ON webhooks_deliveries (finished_at);

      CREATE TABLE webhooks_dedup (
        key TEXT NOT NULL PRIMARY KEY,
        until {{int}} NOT NULL,
        event_id TEXT NOT NULL
      );
    `,
  },
  {
    // For queries that run with each delivery, also when many wait.
    id: '003-queue',
    up: `
      CREATE INDEX webhooks_deliveries_next ON webhooks_deliveries (next_attempt_at) WHERE status = 'pending';
      CREATE INDEX webhooks_deliveries_flying ON webhooks_deliveries (endpoint_id, lease_until)
        WHERE status = 'pending' AND lease_owner IS NOT NULL;
    `,
  },
  {
    // Attempts of a delivery, and an index to queue failed deliveries of one endpoint again.
    id: '004-attempts',
    belonging: { webhooks_attempts: { column: 'delivery_id', table: 'webhooks_deliveries', key: 'id' } },
    up: `
      CREATE TABLE webhooks_attempts (
        id {{id}},
        delivery_id TEXT NOT NULL,
        at {{int}} NOT NULL,
        status {{int}},
        error TEXT,
        duration_ms {{int}} NOT NULL
      );
      CREATE INDEX webhooks_attempts_delivery ON webhooks_attempts (delivery_id, id);
      CREATE INDEX webhooks_deliveries_undelivered ON webhooks_deliveries (endpoint_id, created_at)
        WHERE status IN ('failed', 'dead');
    `,
  },
]
