// Puts up the wall between organizations: names the tables of the plugins to the database, and reports a wall that does not stand.
import type { Env } from '../config/env.ts'
import type { Database, WallTables } from '../types/ports/db.ts'
import type { Logger } from '../types/ports/ports.ts'
import { type MigratingPlugin, tablePrefix } from './migrate.ts'

/** Tables that no plugin owns. */
const OWN = ['gateway', 'vault']

/** Returns whether this gateway serves organizations that must not see each other. */
export function isMultiTenant(env: Env): boolean {
  return env.all().some(({ variable, value }) => variable.name === 'MULTI_TENANT' && value === true)
}

export function wallTables(plugins: readonly MigratingPlugin[]): WallTables {
  const migrations = plugins.flatMap((plugin) => plugin.migrations ?? [])
  return {
    prefixes: [...OWN, ...plugins.map(({ name }) => tablePrefix(name))],
    belonging: Object.assign({}, ...migrations.map(({ belonging }) => belonging)),
  }
}

/** @param log null: a wall that does not stand is not reported. */
export async function buildWall(db: Database, plugins: readonly MigratingPlugin[], log: Logger | null): Promise<void> {
  const state = (await db.wall?.build(wallTables(plugins))) ?? {
    by: null,
    reason: `Only PostgreSQL hides rows by itself; this database is ${db.kind}.`,
  }
  if (log === null || state.by === 'role') return
  if (state.by === 'owner') log.info('tenancy.wall', { by: state.by, reason: state.reason })
  else {
    const fields = { reason: state.reason, hint: 'Organizations are kept apart by the statements alone.' }
    // An engine that has no wall is no fault, and each command would say so.
    if (db.wall === undefined) log.info('tenancy.no_wall', fields)
    else log.warn('tenancy.no_wall', fields)
  }
}
