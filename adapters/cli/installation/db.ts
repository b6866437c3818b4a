// `hookgate db migrate`: creates the tables of this version before its servers start.
import { type MigrationRef, pending } from '../../../core/db/migrate.ts'
import { action, JSON_FLAG, PLACE } from '../action.ts'
import { withControlPlane } from '../control-plane/control-plane.ts'
import { printJson, say, table } from '../output/table.ts'
import { existingDatabase, type Surroundings, surroundings } from '../place.ts'

export const migrate = action({
  name: 'migrate',
  description: 'Bring the database up to this version. `serve` does it at every start; there is no way back but a backup.',
  args: {
    'dry-run': { type: 'boolean', description: 'Only print what is missing' },
    ...JSON_FLAG,
    ...PLACE,
  },
  async run(given) {
    const { steps } = await missing(await surroundings(given))
    // Loading applies the migrations, after it has checked the master key: a wrong key changes nothing.
    if (!given['dry-run']) await withControlPlane(given, async () => {})
    if (given.json) return printJson({ data: steps, applied: !given['dry-run'] })
    if (steps.length === 0) return say.success('The database is up to date.')
    const rows = steps.map(({ plugin, id }) => [given['dry-run'] ? 'missing' : 'applied', plugin, id])
    console.log(table(['STATE', 'PLUGIN', 'MIGRATION'], rows, { missing: 'yellow', applied: 'green' }))
  },
})

/** Returns the missing migrations. `there`: the database exists and a gateway has used it. Creates nothing. */
export async function missing(place: Surroundings): Promise<{ there: boolean; steps: MigrationRef[] }> {
  const plugins = place.plugins.map(({ name, definition }) => ({ name, migrations: definition.migrations ?? [] }))
  const { sqliteDatabase } = await import('../../stores/sqlite.ts')
  const db = (await existingDatabase(place)) ?? sqliteDatabase({ path: ':memory:' })
  try {
    const steps = await pending(db, plugins)
    return { there: steps.length < plugins.reduce((sum, { migrations }) => sum + migrations.length, 0), steps }
  } finally {
    await db.close()
  }
}
