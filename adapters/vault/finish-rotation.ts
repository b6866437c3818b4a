// The last step of rotating a key file. Files change under the database's lock only, and the former key goes only when the
// rows under the new one are safe: at no moment, and for no number of processes, is the key that counts in neither file.
import type { Database } from '../../core/types/db.ts'
import { type KeyFileRules, nextPath, readKeyFile, replaceKeyFile } from './key-file.ts'
import { changeKeys, makeDurable, ROOT, storedKey } from './key-table.ts'
import { keyEncryptionKey } from './key-wrap.ts'

/** Puts the next key in its place if the database is under it; otherwise nothing. */
export async function finishRotation(db: Database, path: string, rules: KeyFileRules): Promise<void> {
  await makeDurable(db)
  await changeKeys(db, async (tx) => {
    const next = await readKeyFile(nextPath(path), rules)
    if (next === null) return
    const root = await storedKey(tx, ROOT)
    if (root?.kek_id === keyEncryptionKey(next).id) await replaceKeyFile(nextPath(path), path)
  })
}
