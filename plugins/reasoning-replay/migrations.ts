import type { Migration } from '../../core/types/ports/db.ts'

// `key` is a digest under the master key, so that it reveals no call.
export const migrations: Migration[] = [
  {
    id: '001-cache',
    up: `
      CREATE TABLE reasoning_replay_cache (
        key TEXT PRIMARY KEY,
        org_id {{int}} NOT NULL DEFAULT 0,
        expires_at {{int}} NOT NULL,
        thoughts_sealed TEXT NOT NULL
      );
      CREATE INDEX reasoning_replay_cache_age ON reasoning_replay_cache (expires_at, key);
    `,
  },
]
