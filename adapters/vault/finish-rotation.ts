// Runs the last step of a key file's rotation. Files change only under the database's lock, and the former key is removed only when the
// rows under the new one are durable. At any time, for any number of processes, one of the files has the valid key.
import type { Database } from '../../core/types/ports/db.ts'
import { type KeyFileRules, nextPath, readKeyFile, replaceKeyFile } from './key-file.ts'
import { changeKeys, makeDurable, ROOT, storedKey } from './key-table.ts'
import { keyEncryptionKey } from './key-wrap.ts'

/** Moves the next key into place when the database is wrapped under it; otherwise does nothing. */
export async function finishRotation(db: Database, path: string, rules: KeyFileRules): Promise<void> {
  await makeDurable(db)
  await changeKeys(db, async (tx) => {
    const next = await readKeyFile(nextPath(path), rules)
    if (next === null) return
    const root = await storedKey(tx, ROOT)
    if (root?.kek_id === keyEncryptionKey(next).id) await replaceKeyFile(nextPath(path), path)
  })
}
