import type { Migration } from '../../core/types/ports/db.ts'

// Only one index besides the primary key: every indexed column costs time for each request (docs/performance.md).
const tables = (keyed: string): string => `
      CREATE TABLE ledger_accounts (
        account TEXT NOT NULL,
        window_start {{int}} NOT NULL,
        spent_nano {{int}} NOT NULL DEFAULT 0,
        reserved_nano {{int}} NOT NULL DEFAULT 0,
        touched_at {{int}} NOT NULL,
        PRIMARY KEY (account, window_start)
      );

      CREATE TABLE ledger_instances (
        boot_id TEXT NOT NULL PRIMARY KEY,
        host TEXT NOT NULL,
        pid {{int}} NOT NULL,
        born_at {{int}} NOT NULL,
        seen_at {{int}} NOT NULL
      );

      CREATE TABLE ledger_dispatch (
        request_id TEXT NOT NULL PRIMARY KEY,
        boot_id TEXT NOT NULL,
        at {{int}} NOT NULL,
        facts TEXT NOT NULL,
        holds TEXT,
        progress TEXT,
        swept_at {{int}},
        booked_nano {{int}} NOT NULL DEFAULT 0
      )${keyed};

      CREATE TABLE ledger_usage (
        request_id TEXT NOT NULL,
        step {{int}} NOT NULL,
        org_id {{int}} NOT NULL DEFAULT 0,
        at {{int}} NOT NULL,
        key_id {{int}},
        key_label TEXT,
        user_id TEXT,
        session_id TEXT,
        cost_center TEXT,
        source TEXT NOT NULL,
        operation TEXT NOT NULL,
        provider TEXT,
        connection_id TEXT,
        model TEXT,
        requested_model TEXT NOT NULL,
        virtual_model TEXT,
        stream {{int}} NOT NULL,
        status {{int}} NOT NULL,
        latency_ms {{int}} NOT NULL,
        first_byte_ms {{int}},
        input_tokens {{int}} NOT NULL DEFAULT 0,
        cache_read_tokens {{int}} NOT NULL DEFAULT 0,
        cache_write_tokens {{int}} NOT NULL DEFAULT 0,
        output_tokens {{int}} NOT NULL DEFAULT 0,
        reasoning_tokens {{int}} NOT NULL DEFAULT 0,
        media_units {{int}} NOT NULL DEFAULT 0,
        estimated {{int}} NOT NULL DEFAULT 0,
        cost_nano {{int}},
        charge_nano {{int}},
        price_ref TEXT,
        cached TEXT,
        free_pool {{int}} NOT NULL DEFAULT 0,
        interrupted {{int}} NOT NULL DEFAULT 0,
        PRIMARY KEY (request_id, step)
      )${keyed};
      CREATE INDEX ledger_usage_at ON ledger_usage (org_id, at);
`

export const migrations: Migration[] = [
  // On SQLite the rows are stored in the primary key: there is no second tree to write, and ids grow with time.
  {
    id: '001-ledger',
    up: { sqlite: tables(' WITHOUT ROWID'), postgresql: tables('') },
    belonging: { ledger_dispatch: { column: 'request_id', table: 'ledger_usage', key: 'request_id' } },
  },
  // Usage rows have no index to count them by key or virtual model.
  { id: '002-requests', up: 'ALTER TABLE ledger_accounts ADD COLUMN requests {{int}} NOT NULL DEFAULT 0' },
  // A sweep books tokens on accounts that count tokens; a late settlement corrects them.
  { id: '003-tokens', up: 'ALTER TABLE ledger_dispatch ADD COLUMN booked_tokens {{int}} NOT NULL DEFAULT 0' },
  // Traces that were written in one commit. PostgreSQL writes each by itself.
  {
    id: '004-traces',
    up: {
      sqlite: `
        CREATE TABLE ledger_traces (
          boot_id TEXT NOT NULL,
          seq INTEGER NOT NULL,
          at INTEGER NOT NULL,
          requests TEXT NOT NULL,
          ended TEXT NOT NULL DEFAULT '',
          PRIMARY KEY (boot_id, seq)
        )`,
      postgresql: 'SELECT 1',
    },
  },
]
