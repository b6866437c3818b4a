// Stores the thoughts as rows, for a restart and for other replicas. They are sealed under the organization's key and bound to their
// place.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Db } from '../../core/types/ports/db.ts'
import type { ReasoningPart } from '../../core/types/request/canonical.ts'

export interface KeptThoughts {
  readonly parts: readonly ReasoningPart[]
  /** Epoch ms. */
  readonly until: number
}

export interface ThoughtRow extends KeptThoughts {
  readonly key: string
  readonly orgId: number | null
}

export interface ThoughtStore {
  /** Replaces existing rows. Above `maxRows` the oldest are deleted. */
  write(rows: readonly ThoughtRow[]): Promise<void>
  /** Returns rows that have not expired and can be opened. */
  find(orgId: number | null, keys: readonly string[]): Promise<ThoughtRow[]>
  /** Removes expired rows. Resolves to whether any row is left. */
  prune(): Promise<boolean>
  /** Removes the rows of one organization; undefined: of all. */
  clear(orgId?: number | null): Promise<void>
}

const shape = z.array(z.custom<ReasoningPart>((part) => (part as ReasoningPart | null)?.t === 'reasoning'))

interface SealedRow {
  key: string
  expires_at: number
  thoughts_sealed: string
}

export function thoughtStore(gateway: Pick<PluginGateway, 'vault' | 'clock' | 'log'>, db: Db, maxRows: number): ThoughtStore {
  const { vault, clock, log } = gateway

  const opened = async (orgId: number | null, row: SealedRow): Promise<ThoughtRow[]> => {
    const { key, expires_at: until, thoughts_sealed } = row
    try {
      return [{ key, orgId, until, parts: shape.parse(JSON.parse(await vault.open(thoughts_sealed, placeOf(orgId, key)))) }]
    } catch (error) {
      log.warn('reasoning_replay.unreadable', { error: String(error) })
      return []
    }
  }

  return {
    async write(rows) {
      // Each row once, because a statement must not write a row twice. In one order, so that replicas cannot deadlock.
      const latest = [...new Map(rows.map((row) => [row.key, row])).values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      const values: unknown[][] = []
      for (const { key, orgId, until, parts } of latest)
        values.push([key, orgId ?? 0, until, await vault.seal(JSON.stringify(parts), placeOf(orgId, key))])
      await db.run(
        sql`INSERT INTO reasoning_replay_cache (key, org_id, expires_at, thoughts_sealed) VALUES ${sql.values(values)}
            ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at, thoughts_sealed = excluded.thoughts_sealed`,
      )
      await db.run(
        sql`DELETE FROM reasoning_replay_cache WHERE (expires_at, key) <= (
              SELECT expires_at, key FROM reasoning_replay_cache ORDER BY expires_at DESC, key DESC LIMIT 1 OFFSET ${maxRows})`,
      )
    },
    async find(orgId, keys) {
      const rows = await db.all<SealedRow>(
        sql`SELECT key, expires_at, thoughts_sealed FROM reasoning_replay_cache
            WHERE key IN ${sql.in(keys)} AND org_id = ${orgId ?? 0} AND expires_at > ${clock.now()}`,
      )
      return (await Promise.all(rows.map((row) => opened(orgId, row)))).flat()
    },
    async prune() {
      await db.run(sql`DELETE FROM reasoning_replay_cache WHERE expires_at <= ${clock.now()}`)
      return (await db.get(sql`SELECT 1 AS found FROM reasoning_replay_cache LIMIT 1`)) !== undefined
    },
    async clear(orgId) {
      await db.run(
        orgId === undefined
          ? sql`DELETE FROM reasoning_replay_cache`
          : sql`DELETE FROM reasoning_replay_cache WHERE org_id = ${orgId ?? 0}`,
      )
    },
  }
}

/** Bound into the sealed value: thoughts that were moved to another row do not open there. */
function placeOf(orgId: number | null, key: string) {
  return { table: 'reasoning_replay_cache', id: key, column: 'thoughts_sealed', orgId }
}
