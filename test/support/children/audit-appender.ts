// Appends entries to the audit chain of the database of its argument, all at once, and prints which it was given.
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { migrate } from '../../../core/db/migrate.ts'
import { migrations } from '../../../plugins/audit/migrations.ts'
import { chainWriter } from '../../../plugins/audit/writer.ts'

const [url, name, count] = process.argv.slice(2) as [string, string, string]
const db = await openDatabase(url, '.')
await migrate(db, [{ name: 'audit', migrations }])
const append = chainWriter(db)
const links = await Promise.all(
  Array.from({ length: Number(count) }, (_, i) =>
    append({ org_id: 0, at: i, actor: name, action: 'test.write', target: String(i), details: '{}', ip: null }),
  ),
)
await db.close()
console.log(JSON.stringify(links.map(({ seq }) => seq)))
