// Runs a change in a transaction that is rolled back, because the database checks rules that no schema can.
import type { Db } from '../types/ports/db.ts'

/** Returns the result of the change. Rejects when the change does. */
export async function rehearse<T>(db: Db, change: (tx: Db) => Promise<T>): Promise<T> {
  const done = new Rehearsal<T>()
  try {
    return await db.tx(async (tx) => {
      done.result = await change(tx)
      throw done
    })
  } catch (error) {
    if (error === done) return done.result as T
    throw error
  }
}

class Rehearsal<T> extends Error {
  result: T | undefined
}
