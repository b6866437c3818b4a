// Deletes an organization: its rows in the tables of every plugin, and its data key. The audit log keeps its entries: it is a chain.
import { sql } from '../../core/db/sql.ts'
import type { BelongsTo, Db } from '../../core/types/ports/db.ts'
import type { People } from './people.ts'

declare module '../../core/types/plugin/plugin.ts' {
  interface EventMap {
    /** An organization and the rows with its number are gone. Plugins with rows that hang on those delete them now. */
    'organization.deleted': { readonly org_id: number }
  }
}

/** These keep their rows. People belong to an organization while they are members, and stay. */
const KEPT = new Set(['audit_log', 'organizations', 'organizations_users', 'organizations_identities', 'organizations_tokens'])

type Belonging = Readonly<Record<string, BelongsTo>>

interface Column {
  name: string
}

/** Every table that has the column `org_id`, also those of plugins that this one does not know. */
async function ownedTables(db: Db): Promise<string[]> {
  const rows =
    db.dialect === 'sqlite'
      ? await db.all<Column>(
          sql`SELECT m.name AS name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'org_id'`,
        )
      : await db.all<Column>(
          sql`SELECT c.table_name AS name FROM information_schema.columns c JOIN information_schema.tables t
              ON t.table_schema = c.table_schema AND t.table_name = c.table_name
              WHERE c.table_schema = current_schema() AND c.column_name = 'org_id' AND t.table_type = 'BASE TABLE'`,
        )
  return rows
    .map(({ name }) => name)
    .filter((name) => !KEPT.has(name))
    .sort()
}

async function purge(db: Db, orgId: number, belonging: Belonging): Promise<void> {
  // Rows that hang on others go first: afterwards nothing says whose they were.
  for (const [table, { column, table: other, key }] of Object.entries(belonging)) {
    if (KEPT.has(table)) continue
    // An id may be a number in one table and a text in the other.
    await db.run(sql`DELETE FROM ${sql.id(table)} WHERE CAST(${sql.id(column)} AS TEXT) IN
      (SELECT CAST(${sql.id(key)} AS TEXT) FROM ${sql.id(other)} WHERE org_id = ${orgId})`)
  }
  for (const table of await ownedTables(db)) await db.run(sql`DELETE FROM ${sql.id(table)} WHERE org_id = ${orgId}`)
}

/** Its keys and sessions end at once here, and on other replicas within two seconds. */
export async function deleteOrganization(people: People, orgId: number): Promise<boolean> {
  const done = await people.write(async (db) => {
    const { changes } = await db.run(
      sql`UPDATE organizations SET deleted_at = ${people.now()}, name = '', admins = '[]', config_key = NULL, declared = NULL
          WHERE id = ${orgId} AND deleted_at IS NULL`,
    )
    if (changes === 0) return false
    await purge(db, orgId, people.belonging())
    await db.run(sql`DELETE FROM vault_keys WHERE scope = ${`org:${orgId}`}`)
    // Every view of every plugin may have held rows of it.
    await db.run(sql`UPDATE gateway_versions SET version = version + 1`)
    return true
  })
  if (!done) return false
  await people.view.refresh()
  people.gateway.events.emit('organization.deleted', { org_id: orgId }, { orgId: null })
  return true
}

/** Requests that were running when the organization was deleted settle later. Removes what they wrote. */
export async function purgeLate({ gateway: { db }, belonging }: People, since: number): Promise<void> {
  const rows = await db.all<{ id: number }>(sql`SELECT id FROM organizations WHERE deleted_at > ${since}`)
  for (const { id } of rows) await db.tx((tx) => purge(tx, id, belonging()))
}
