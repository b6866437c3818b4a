import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-responses-state',
    up: `
      CREATE TABLE responses_state (
        token TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        key_id {{int}} NOT NULL,
        parent TEXT,
        created_at {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        bytes {{int}} NOT NULL,
        turn_sealed TEXT NOT NULL
      );
      CREATE INDEX responses_state_expires ON responses_state (expires_at);
    `,
  },
  {
    id: '002-responses-state-head',
    up: 'ALTER TABLE responses_state ADD COLUMN head_sealed TEXT;',
  },
  {
    id: '003-responses-state-runs',
    up: `
      CREATE INDEX responses_state_owner ON responses_state (org_id, key_id, created_at);
      CREATE TABLE responses_state_runs (
        token TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        key_id {{int}} NOT NULL,
        status TEXT NOT NULL,
        created_at {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        lease_owner TEXT,
        lease_until {{int}} NOT NULL,
        request_sealed TEXT,
        head_sealed TEXT NOT NULL
      );
      CREATE INDEX responses_state_runs_status ON responses_state_runs (status, created_at);
    `,
  },
  {
    id: '004-responses-state-conversations',
    up: `
      CREATE TABLE responses_state_conversations (
        token TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        key_id {{int}} NOT NULL,
        created_at {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        metadata_sealed TEXT NOT NULL
      );
      CREATE INDEX responses_state_conversations_expires ON responses_state_conversations (expires_at);
      CREATE TABLE responses_state_items (
        conversation TEXT NOT NULL,
        id TEXT NOT NULL,
        org_id {{int}} NOT NULL,
        place {{int}} NOT NULL,
        bytes {{int}} NOT NULL,
        item_sealed TEXT NOT NULL,
        PRIMARY KEY (conversation, id)
      );
      CREATE INDEX responses_state_items_place ON responses_state_items (conversation, place);
    `,
  },
  {
    id: '005-responses-state-events',
    up: `
      CREATE TABLE responses_state_events (
        token TEXT NOT NULL,
        org_id {{int}} NOT NULL,
        first {{int}} NOT NULL,
        last {{int}} NOT NULL,
        events_sealed TEXT NOT NULL,
        PRIMARY KEY (token, first)
      );
    `,
  },
  {
    id: '006-responses-state-busy',
    up: 'ALTER TABLE responses_state_conversations ADD COLUMN busy_until {{int}} NOT NULL DEFAULT 0;',
  },
]
