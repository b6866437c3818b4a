// Stores settings changed at run time, by dotted key. A setting without a row has its configured value.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { Db, Migration } from '../../core/types/db.ts'

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

const row = z.object({ name: z.string(), value: z.string().transform((text) => JSON.parse(text) as unknown) })

export async function storedSettings(db: Db): Promise<Readonly<Record<string, unknown>>> {
  const rows = await db.all(sql`SELECT name, value FROM settings WHERE org_id = 0 ORDER BY name`, row)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** null resets a setting. */
export async function storeSettings(db: Db, changes: ReadonlyMap<string, unknown>, actor: string, now: number): Promise<void> {
  for (const [name, value] of changes) {
    if (value === null) {
      await db.run(sql`DELETE FROM settings WHERE org_id = 0 AND name = ${name}`)
      continue
    }
    await db.run(
      sql`INSERT INTO settings (org_id, name, value, updated_at, updated_by)
          VALUES (0, ${name}, ${JSON.stringify(value)}, ${now}, ${actor})
          ON CONFLICT (org_id, name) DO UPDATE
          SET value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`,
    )
  }
}
