// Creates the tables of new plugins before any plugin is set up, and the wall between organizations around them.

import type { Env } from '../config/env.ts'
import { migrate, refuseNewer } from '../db/migrate.ts'
import { buildWall, isMultiTenant } from '../db/wall.ts'
import type { Database } from '../types/ports/db.ts'
import type { Logger } from '../types/ports/ports.ts'
import type { PluginInstance } from './instance.ts'

export interface Tables {
  readonly db: Database | undefined
  readonly env: Env
  readonly facilities: { readonly log: Logger }
}

/** @throws Error when a plugin has tables and there is no database, and as `migrate` does. */
export async function migrateTables(
  wanted: readonly PluginInstance[],
  kept: ReadonlyMap<string, PluginInstance>,
  { db, env, facilities }: Tables,
  booting: boolean,
): Promise<void> {
  const owners = wanted.filter(({ plugin }) => !kept.has(plugin.name) && plugin.definition.migrations?.length)
  if (owners.length === 0) return
  if (db === undefined) {
    throw new Error(
      `The plugin \`${owners[0]?.plugin.name}\` keeps tables, and this gateway has no database. Set GATEWAY_DATABASE_URL or GATEWAY_DATA_DIR, or leave the plugin out.`,
    )
  }
  const plugins = owners.map(({ plugin }) => ({ name: plugin.name, migrations: plugin.definition.migrations ?? [] }))
  // At a reload a newer replica may have migrated already, during a rolling update.
  if (booting && !env.get<boolean>('ALLOW_NEWER')) await refuseNewer(db, plugins)
  await migrate(db, plugins)
  if (isMultiTenant(env)) await buildWall(db, plugins, booting ? facilities.log : null)
}
