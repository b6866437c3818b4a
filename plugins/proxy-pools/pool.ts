// A pool in memory: its opened URL and its connections.
import type { Db } from '../../core/types/ports/db.ts'
import type { Logger, Vault } from '../../core/types/ports/ports.ts'
import { allAssignments, allPools, type PoolRow } from './store.ts'

export interface Pool {
  readonly row: PoolRow
  readonly orgId: number | null
  /** null: the stored value cannot be opened. */
  readonly url: string | null
  readonly bypasses: (url: string) => boolean
  /** Ids of connections, also removed ones. */
  readonly assigned: readonly number[]
}

export const sealedAt = (id: number, orgId: number | null) => ({ table: 'proxy_pools', id, column: 'proxy_url', orgId })

/** Built once for each pool, because it runs for every call. */
export function bypass(list: string): (url: string) => boolean {
  const suffixes = suffixesOf(list)
  if (suffixes.length === 0) return () => false
  if (suffixes.includes('*')) return () => true
  return (url) => {
    const host = hostOf(url)
    return suffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  }
}

function suffixesOf(list: string): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .map((entry) => (entry === '*' ? entry : entry.replace(/^\*?\./, '')))
    .filter((entry) => entry !== '')
}

function hostOf(url: string): string {
  const { hostname } = new URL(url)
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '')
}

export async function loadPools(db: Db, vault: Vault, log: Logger): Promise<Pool[]> {
  const assignments = await allAssignments(db)
  const pools: Pool[] = []
  for (const row of await allPools(db)) {
    const orgId = row.org_id === 0 ? null : row.org_id
    pools.push({
      row,
      orgId,
      url: await opened(row, orgId, vault, log),
      bypasses: bypass(row.no_proxy),
      // An assignment of another organization does not count.
      assigned: assignments
        .filter((assignment) => assignment.pool_id === row.id && assignment.org_id === row.org_id)
        .map((assignment) => assignment.connection_id),
    })
  }
  return pools
}

async function opened(row: PoolRow, orgId: number | null, vault: Vault, log: Logger): Promise<string | null> {
  try {
    return row.proxy_url === null ? null : await vault.open(row.proxy_url, sealedAt(row.id, orgId))
  } catch (error) {
    // One altered row must not disable the others.
    log.error('proxy_pool.unreadable', { id: row.id, error: (error as Error).message })
    return null
  }
}
