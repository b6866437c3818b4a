// The short menu leaves out pages that a new local gateway does not need. Search finds them, and their addresses work.
import { useGet } from '../../api/query.ts'
import { preferences } from '../preferences.ts'

const FEW = { query: { limit: 1 } }
const LEFT_OUT: ReadonlySet<string> = new Set(['webhooks'])

/** Returns true while the short menu holds. Until the gateway has answered it does, so that entries appear but never go away. */
export function useShortMenu(): boolean {
  const { menu } = preferences.value
  const automatic = menu === 'auto'
  const health = useGet(automatic ? '/healthz' : null)
  const keys = useGet(automatic && health.data?.profile !== 'cloud' ? '/api/keys' : null, FEW)
  if (!automatic) return menu === 'short'
  return health.data?.profile !== 'cloud' && (keys.data?.total ?? 0) < 2
}

/** @param id of a page */
export function leftOut(id: string): boolean {
  return LEFT_OUT.has(id)
}
