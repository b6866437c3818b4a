// Answers the lists of the control plane from the database, without a gateway: a gateway takes longer to build than a command should run.
import type { Db } from '../../../core/types/ports/db.ts'
import { listKeys, listQuery } from '../../../plugins/keys/list.ts'
import { loadKeys } from '../../../plugins/keys/store.ts'
import { listTokens } from '../../../plugins/sign-in/token-list.ts'
import type { ControlPlane, Place } from '../control-plane/control-plane.ts'
import { plainDatabase } from './plain-place.ts'

type Read = (db: Db, query: Readonly<Record<string, string>>) => Promise<object>

/** By path. Each calls what the handler of the route calls, for a caller without an organization. */
export const READS: Readonly<Record<string, Read>> = {
  '/api/keys': async (db, query) => {
    const rows = [...(await loadKeys(db)).values()].filter(({ org_id }) => org_id === 0)
    return listKeys(rows, listQuery.parse(query))
  },
  '/api/tokens': (db) => listTokens(db, null),
}

/**
 * Returns null where only a gateway can answer, and for every failure: the gateway then finds the same and reports it.
 * @param work does nothing but calls of READS.
 */
export async function quickly<T>(
  place: Place,
  work: (plane: Pick<ControlPlane, 'call'>) => Promise<T>,
): Promise<{ value: T } | null> {
  const db = await plainDatabase(place).catch(() => null)
  if (db === null) return null
  try {
    return { value: await work({ call: async <A>(_method: string, path: string) => (await answered(db, path)) as A }) }
  } catch {
    return null
  } finally {
    await db.close()
  }
}

async function answered(db: Db, path: string): Promise<unknown> {
  const [route = '', query] = path.split('?')
  const answer = await READS[route]?.(db, Object.fromEntries(new URLSearchParams(query)))
  // As it is after its way through HTTP.
  return JSON.parse(JSON.stringify(answer))
}
