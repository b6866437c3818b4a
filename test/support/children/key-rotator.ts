// Rotates the master key of its arguments again and again, and says so each time. It is made to be killed.
import { openDatabase } from '../../../adapters/stores/open-database.ts'
import { rotateKeyFile } from '../../../adapters/vault/rotate.ts'
import { say } from './say.ts'

const [url, path] = process.argv.slice(2) as [string, string]
const db = await openDatabase(url, '.')
for (;;) {
  await rotateKeyFile({ db, path })
  say('.')
}
