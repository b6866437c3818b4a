// Stores settings changed at run time, by organization and dotted key. A setting without a row is inherited: an organization's from the
// gateway, the gateway's from its configuration.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Migration } from '../../core/types/ports/db.ts'

export const migrations: Migration[] = [
  {
    id: '001-settings',
    up: `
      CREATE TABLE settings (
        org_id {{int}} NOT NULL DEFAULT 0,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        updated_at {{int}} NOT NULL,
        updated_by TEXT NOT NULL,
        PRIMARY KEY (org_id, name)
      );
    `,
  },
]

const row = z.object({
  org_id: z.number(),
  name: z.string(),
  value: z.string().transform((text) => JSON.parse(text) as unknown),
})

export type Stored = Readonly<Record<string, unknown>>

export interface AllStored {
  /** The gateway's own values. */
  readonly gateway: Stored
  /** Those of organizations that changed any. */
  readonly organizations: ReadonlyMap<number, Stored>
}

export async function allSettings(db: Db): Promise<AllStored> {
  const rows = await db.all(sql`SELECT org_id, name, value FROM settings ORDER BY org_id, name`, row)
  const byOrg = new Map<number, Record<string, unknown>>()
  for (const { org_id, name, value } of rows) {
    const values = byOrg.get(org_id) ?? {}
    byOrg.set(org_id, values)
    values[name] = value
  }
  const gateway = byOrg.get(0) ?? {}
  byOrg.delete(0)
  return { gateway, organizations: byOrg }
}

export interface Change {
  /** The owner of the value: an organization; null: the gateway. */
  readonly orgId: number | null
  /** null resets the setting. */
  readonly value: unknown
}

export interface StoredBy {
  readonly actor: string
  /** Epoch ms. */
  readonly now: number
}

export async function storeSettings(db: Db, changes: ReadonlyMap<string, Change>, { actor, now }: StoredBy): Promise<void> {
  for (const [name, { orgId, value }] of changes) {
    const owner = orgId ?? 0
    if (value === null) {
      await db.run(sql`DELETE FROM settings WHERE org_id = ${owner} AND name = ${name}`)
      continue
    }
    await db.run(
      sql`INSERT INTO settings (org_id, name, value, updated_at, updated_by)
          VALUES (${owner}, ${name}, ${JSON.stringify(value)}, ${now}, ${actor})
          ON CONFLICT (org_id, name) DO UPDATE
          SET value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    )
  }
}
