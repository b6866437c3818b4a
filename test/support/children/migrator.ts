// Migrates the database of its argument with the plugins of the second, and prints what it applied.
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { migrate } from '../../../core/db/migrate.ts'

const [url, plugins] = process.argv.slice(2) as [string, string]
const db = await openDatabase(url, '.')
const applied = await migrate(db, JSON.parse(plugins))
await db.close()
console.log(JSON.stringify(applied))
