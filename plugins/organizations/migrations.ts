import type { Migration } from '../../core/types/ports/db.ts'

// Rows of organizations and users are never deleted: a number in old records means the same one forever.
export const migrations: Migration[] = [
  {
    id: '001-organizations',
    // A person belongs to the organizations that the person is a member of.
    belonging: {
      organizations: { column: 'id', table: 'organizations_members', key: 'org_id' },
      organizations_users: { column: 'id', table: 'organizations_members', key: 'user_id' },
      organizations_identities: { column: 'user_id', table: 'organizations_members', key: 'user_id' },
      organizations_tokens: { column: 'user_id', table: 'organizations_members', key: 'user_id' },
    },
    up: `
      CREATE TABLE organizations (
        id {{id}},
        name TEXT NOT NULL,
        suspended_at {{int}},
        created_at {{int}} NOT NULL,
        deleted_at {{int}},
        managed_by TEXT NOT NULL DEFAULT 'api',
        config_key TEXT,
        declared TEXT,
        admins TEXT NOT NULL DEFAULT '[]',
        archived_at {{int}}
      );
      CREATE UNIQUE INDEX organizations_config_key ON organizations (config_key);
      CREATE TABLE organizations_users (
        id {{id}},
        email TEXT NOT NULL,
        name TEXT,
        password_hash TEXT,
        email_verified_at {{int}},
        system_admin {{int}} NOT NULL DEFAULT 0,
        generation {{int}} NOT NULL DEFAULT 0,
        created_at {{int}} NOT NULL,
        disabled_at {{int}},
        deleted_at {{int}}
      );
      CREATE UNIQUE INDEX organizations_users_email ON organizations_users (email) WHERE deleted_at IS NULL;
      CREATE TABLE organizations_members (
        org_id {{int}} NOT NULL,
        user_id {{int}} NOT NULL,
        role TEXT NOT NULL,
        source TEXT NOT NULL,
        created_at {{int}} NOT NULL,
        PRIMARY KEY (org_id, user_id)
      );
      CREATE TABLE organizations_identities (
        issuer TEXT NOT NULL,
        subject TEXT NOT NULL,
        user_id {{int}} NOT NULL,
        created_at {{int}} NOT NULL,
        PRIMARY KEY (issuer, subject)
      );
      CREATE TABLE organizations_tokens (
        mac TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        user_id {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        used_at {{int}}
      );
      CREATE TABLE organizations_invitations (
        id {{id}},
        org_id {{int}} NOT NULL,
        email TEXT NOT NULL,
        role TEXT NOT NULL,
        mac TEXT NOT NULL,
        invited_by TEXT NOT NULL,
        created_at {{int}} NOT NULL,
        expires_at {{int}} NOT NULL,
        accepted_at {{int}},
        revoked_at {{int}}
      );
      CREATE UNIQUE INDEX organizations_invitations_mac ON organizations_invitations (mac);
      CREATE INDEX organizations_invitations_org ON organizations_invitations (org_id);
    `,
  },
  { id: '002-settings', up: 'ALTER TABLE organizations ADD COLUMN settings TEXT' },
]
