import type { Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-outbox',
    // `letter` is sealed, because its link is a credential, and is emptied when the letter is finished.
    up: `
      CREATE TABLE mail_outbox (
        id TEXT NOT NULL PRIMARY KEY,
        org_id {{int}} NOT NULL,
        kind TEXT NOT NULL,
        domain TEXT NOT NULL,
        letter TEXT,
        status TEXT NOT NULL DEFAULT 'waiting',
        attempts {{int}} NOT NULL DEFAULT 0,
        next_attempt_at {{int}} NOT NULL,
        lease_owner TEXT,
        lease_until {{int}} NOT NULL DEFAULT 0,
        last_status {{int}},
        last_error TEXT,
        created_at {{int}} NOT NULL,
        finished_at {{int}}
      );
      CREATE INDEX mail_outbox_next ON mail_outbox (next_attempt_at) WHERE status = 'waiting';
      CREATE INDEX mail_outbox_finished ON mail_outbox (finished_at);
    `,
  },
]
