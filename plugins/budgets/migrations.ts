import type { Migration } from '../../core/types/ports/db.ts'

// `window` is a reserved word of PostgreSQL, so the column is called `period`.
export const migrations: Migration[] = [
  {
    id: '001-budgets',
    belonging: { budgets_increases: { column: 'budget_id', table: 'budgets', key: 'id' } },
    up: `
      CREATE TABLE budgets (
        id {{id}},
        org_id {{int}} NOT NULL DEFAULT 0,
        scope TEXT NOT NULL,
        entity_id {{int}},
        entity_label TEXT,
        period TEXT NOT NULL,
        hard_limit_nano {{int}} NOT NULL,
        enabled {{int}} NOT NULL DEFAULT 1,
        created_at {{int}} NOT NULL,
        updated_at {{int}} NOT NULL,
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        archived_at {{int}}
      );
      CREATE UNIQUE INDEX budgets_config_key ON budgets (org_id, config_key);
      CREATE INDEX budgets_entity ON budgets (org_id, scope, entity_id);

      CREATE TABLE budgets_increases (
        id {{id}},
        budget_id {{int}} NOT NULL,
        amount_nano {{int}} NOT NULL,
        reason TEXT,
        expires_at {{int}} NOT NULL,
        created_at {{int}} NOT NULL,
        created_by TEXT NOT NULL
      );
      CREATE INDEX budgets_increases_budget ON budgets_increases (budget_id, expires_at);

      CREATE TABLE budgets_counters (
        budget_id {{int}} NOT NULL,
        window_start {{int}} NOT NULL,
        spent_nano {{int}} NOT NULL DEFAULT 0,
        reserved_nano {{int}} NOT NULL DEFAULT 0,
        PRIMARY KEY (budget_id, window_start)
      );

      CREATE TABLE budgets_events (
        budget_id {{int}} NOT NULL,
        type TEXT NOT NULL,
        threshold {{int}} NOT NULL DEFAULT 0,
        window_start {{int}} NOT NULL,
        last_at {{int}} NOT NULL,
        PRIMARY KEY (budget_id, type, threshold, window_start)
      );
    `,
  },
  {
    // The ledger stores the accounts; this table stores which events were emitted.
    id: '002-states',
    belonging: { budgets_states: { column: 'budget_id', table: 'budgets', key: 'id' } },
    up: `
      DROP TABLE budgets_counters;
      DROP TABLE budgets_events;

      CREATE TABLE budgets_states (
        budget_id {{int}} NOT NULL,
        window_start {{int}} NOT NULL,
        type TEXT NOT NULL,
        threshold {{int}} NOT NULL,
        above {{int}} NOT NULL DEFAULT 0,
        last_at {{int}} NOT NULL DEFAULT 0,
        PRIMARY KEY (budget_id, type, threshold, window_start)
      );
    `,
  },
  { id: '003-zone', up: 'CREATE TABLE budgets_zone (id {{int}} NOT NULL PRIMARY KEY, zone TEXT NOT NULL)' },
]
