// Lists, reads and deletes what is stored of one organization, for its administrators.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Sql } from '../../core/types/ports/db.ts'

export interface Listed {
  readonly kind: 'response' | 'conversation'
  readonly token: string
  readonly key_id: number
  readonly status: string
  readonly created_at: number
  readonly expires_at: number
  readonly bytes: number
}

export interface Selection {
  /** 0: rows without an organization. */
  readonly orgId: number
  /** 0: calls without a key. undefined: every key. */
  readonly keyId?: number | undefined
}

type Place = readonly [createdAt: number, token: string]

export interface Records {
  /** The newest first, from after a place on. */
  list(selection: Selection, limit: number, after: Place | null): Promise<Listed[]>
  find(selection: Selection, token: string): Promise<Listed | undefined>
  /** Returns the number of deleted responses and conversations. */
  removeAll(selection: Selection): Promise<number>
}

const listed: z.ZodType<Listed> = z.object({
  kind: z.enum(['response', 'conversation']),
  token: z.string(),
  key_id: z.int(),
  status: z.string(),
  created_at: z.number(),
  expires_at: z.number(),
  bytes: z.number(),
})

export function records({ db, clock }: Pick<PluginGateway, 'db' | 'clock'>): Records {
  const of = ({ orgId, keyId }: Selection): Sql =>
    keyId === undefined ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} AND key_id = ${keyId}`
  function read(selected: Sql, limit: number): Promise<Listed[]> {
    const where = sql`${selected} AND expires_at > ${clock.now()}`
    return db.all(
      sql`SELECT * FROM (
          SELECT 'response' AS kind, token, key_id, 'completed' AS status, created_at, expires_at, bytes
            FROM responses_state WHERE ${where}
          UNION ALL
          SELECT 'response' AS kind, token, key_id, status, created_at, expires_at, 0 AS bytes
            FROM responses_state_runs WHERE status <> 'completed' AND ${where}
          UNION ALL
          SELECT 'conversation' AS kind, token, key_id, 'open' AS status, created_at, expires_at, 0 AS bytes
            FROM responses_state_conversations WHERE ${where}
        ) AS everything ORDER BY created_at DESC, token DESC LIMIT ${limit}`,
      listed,
    )
  }
  return {
    list(selection, limit, after) {
      if (after === null) return read(of(selection), limit)
      const [at, token] = after
      return read(sql`${of(selection)} AND (created_at < ${at} OR (created_at = ${at} AND token < ${token}))`, limit)
    },
    async find(selection, token) {
      return (await read(sql`${of(selection)} AND token = ${token}`, 1))[0]
    },
    async removeAll(selection) {
      return db.tx(async (tx) => {
        const conversations = sql`SELECT token FROM responses_state_conversations WHERE ${of(selection)}`
        await tx.run(sql`DELETE FROM responses_state_items WHERE conversation IN (${conversations})`)
        const runs = sql`SELECT token FROM responses_state_runs WHERE ${of(selection)}`
        await tx.run(sql`DELETE FROM responses_state_events WHERE token IN (${runs})`)
        let removed = 0
        for (const table of ['responses_state_conversations', 'responses_state_runs', 'responses_state'])
          removed += (await tx.run(sql`DELETE FROM ${sql.id(table)} WHERE ${of(selection)}`)).changes
        return removed
      })
    },
  }
}
