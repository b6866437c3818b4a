// Stored turns as rows: the request's own messages and the parts of the answer, sealed under the organization's key and bound to their place.
import { z } from 'zod'
import { sql } from '../../core/db/sql.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Sql, Statement } from '../../core/types/ports/db.ts'
import type { SealedAt } from '../../core/types/ports/ports.ts'
import type { JsonObject, Message } from '../../core/types/request/canonical.ts'
import { openedCache } from './chains/opened-cache.ts'
import type { Head, Native, Turn } from './turn.ts'

/** The callers that may read a row. */
export interface Scope {
  readonly orgId: number | null
  /** null: calls without a key. `all`: every key of the organization. */
  readonly keyId: number | null | 'all'
}

export interface SealedTurn {
  readonly token: string
  readonly parent: string | null
  /** The turn and the head, in one text. */
  readonly sealed: string
  /** Length of the turn, without the head. */
  readonly bytes: number
}

/** A stored response as its reader needs it. */
export interface StoredResponse {
  readonly turn: Turn
  readonly head: Head
  /** Token of the previous response. */
  readonly parent: string | null
}

export interface TurnStore {
  /** Seals the JSON texts of a turn and its head. */
  seal(orgId: number | null, token: string, turn: string, head: string): Promise<Pick<SealedTurn, 'sealed' | 'bytes'>>
  /** For the settlement's unit. */
  insert(scope: Scope, turn: SealedTurn, now: number, expiresAt: number): Statement
  /** Returns the turns up to this one, oldest first; null: it, or one before it, does not exist, has expired or belongs to another caller. */
  chain(scope: Scope, token: string): Promise<Turn[] | null>
  /** Returns null when it does not exist, has expired or belongs to another caller. */
  response(scope: Scope, token: string): Promise<StoredResponse | null>
  /** Returns the turns that exist, by token. */
  turns(scope: Scope, tokens: readonly string[]): Promise<Map<string, Turn>>
  /** Resolves to whether there was one. Turns that follow it cannot be continued any more. */
  remove(scope: Scope, token: string): Promise<boolean>
  prune(now: number): Promise<void>
}

export interface TurnBounds {
  /** Turns of one conversation. */
  readonly maxTurns: number
  /** Bytes of one conversation. */
  readonly maxChainBytes: number
}

const shape = z.object({
  messages: z.array(z.custom<Message>()),
  // Rows of an older form have parts without a type.
  output: z.array(z.looseObject({ type: z.string() })) as unknown as z.ZodType<JsonObject[]>,
  conversation: z.string().optional(),
  begins: z.boolean().optional(),
  native: z.custom<Native>().optional(),
})
const headShape = z.looseObject({ id: z.string(), status: z.string() }) as unknown as z.ZodType<Head>
const row = z.object({ token: z.string(), parent: z.string().nullable(), turn_sealed: z.string() })
const headRow = row.extend({ head_sealed: z.string().nullable() })
const linkRow = z.object({ token: z.string(), parent: z.string().nullable(), bytes: z.number() })
const PRUNED_AT_ONCE = 1000
const READ_AT_ONCE = 500
const CACHED_BYTES = 16 * 1024 * 1024

export function turnStore(gateway: Pick<PluginGateway, 'db' | 'vault' | 'clock' | 'log'>, bounds: TurnBounds): TurnStore {
  const { db, vault, clock, log } = gateway
  const cache = openedCache<Turn>(CACHED_BYTES)
  const placeOf = (orgId: number | null, token: string, column: 'turn' | 'head'): SealedAt => ({
    table: 'responses_state',
    id: token,
    column,
    orgId,
  })
  const opened = async <T>(at: SealedAt, sealed: string, line: number, as: z.ZodType<T>) => {
    try {
      // JSON on one line has no line break, so a conversation's turns are read without parsing their heads.
      const text = (await vault.open(sealed, at)).split('\n', line + 1)[line]
      return text === undefined ? null : as.parse(JSON.parse(text))
    } catch (error) {
      log.warn('responses_state.unreadable', { error: String(error) })
      return null
    }
  }
  const turnIn = ({ orgId }: Scope, { token, turn_sealed }: z.output<typeof row>): Promise<Turn | null> =>
    opened(placeOf(orgId, token, 'turn'), turn_sealed, 0, shape)
  /** Rows of an older form have the head in a column of its own. */
  const headIn = ({ orgId }: Scope, { token, turn_sealed, head_sealed }: z.output<typeof headRow>): Promise<Head | null> =>
    head_sealed === null
      ? opened(placeOf(orgId, token, 'turn'), turn_sealed, 1, headShape)
      : opened(placeOf(orgId, token, 'head'), head_sealed, 0, headShape)

  const openedTurns = async (scope: Scope, links: readonly z.output<typeof linkRow>[]): Promise<(Turn | undefined)[]> => {
    const turns = new Map(links.map(({ token }) => [token, cache.get(token)]))
    const unread = links.filter(({ token }) => turns.get(token) === undefined)
    const sizes = new Map(unread.map(({ token, bytes }) => [token, bytes]))
    const tokens = [...sizes.keys()]
    for (let from = 0; from < tokens.length; from += READ_AT_ONCE) {
      const some = sql.in(tokens.slice(from, from + READ_AT_ONCE))
      const rows = await db.all(sql`SELECT token, parent, turn_sealed FROM responses_state WHERE token IN ${some}`, row)
      for (const one of rows) {
        const turn = await turnIn(scope, one)
        if (turn === null) continue
        turns.set(one.token, turn)
        cache.set(one.token, turn, sizes.get(one.token) ?? 0)
      }
    }
    return links.map(({ token }) => turns.get(token))
  }

  return {
    async seal(orgId, token, turn, head) {
      return { sealed: await vault.seal(`${turn}\n${head}`, placeOf(orgId, token, 'turn')), bytes: turn.length }
    },
    insert: ({ orgId, keyId }, { token, parent, sealed, bytes }, now, expiresAt) => ({
      sql: sql`INSERT INTO responses_state (token, org_id, key_id, parent, created_at, expires_at, bytes, turn_sealed)
        VALUES (${token}, ${orgId ?? 0}, ${keyOf(keyId)}, ${parent}, ${now}, ${expiresAt}, ${bytes}, ${sealed})
        ON CONFLICT (token) DO NOTHING`,
    }),
    async chain(scope, token) {
      const now = clock.now()
      const rows = await db.all(
        sql`WITH RECURSIVE chain AS (
              SELECT token, parent, bytes, bytes AS total, 1 AS depth FROM responses_state
              WHERE token = ${token} AND ${mine(scope, now)}
              UNION ALL
              SELECT older.token, older.parent, older.bytes, chain.total + older.bytes, chain.depth + 1
              FROM chain JOIN (SELECT token, parent, bytes FROM responses_state WHERE ${mine(scope, now)}) AS older ON older.token = chain.parent
              WHERE chain.depth < ${bounds.maxTurns} AND chain.total + older.bytes <= ${bounds.maxChainBytes}
            )
            SELECT token, parent, bytes FROM chain ORDER BY depth DESC`,
        linkRow,
      )
      if (rows[0] === undefined || rows[0].parent !== null) return null
      const turns = await openedTurns(scope, rows)
      return turns.every((turn) => turn !== undefined) ? turns : null
    },
    async response(scope, token) {
      const found = await db.get(
        sql`SELECT token, parent, turn_sealed, head_sealed FROM responses_state
            WHERE token = ${token} AND ${mine(scope, clock.now())}`,
        headRow,
      )
      if (found === undefined) return null
      const turn = await turnIn(scope, found)
      const head = await headIn(scope, found)
      return turn === null || head === null ? null : { turn, head, parent: found.parent }
    },
    async turns(scope, tokens) {
      const found = new Map<string, Turn>()
      if (tokens.length === 0) return found
      const rows = await db.all(
        sql`SELECT token, parent, turn_sealed FROM responses_state WHERE token IN ${sql.in(tokens)} AND ${mine(scope, clock.now())}`,
        row,
      )
      for (const one of rows) {
        const turn = await turnIn(scope, one)
        if (turn !== null) found.set(one.token, turn)
      }
      return found
    },
    async remove(scope, token) {
      const { changes } = await db.run(sql`DELETE FROM responses_state WHERE token = ${token} AND ${mine(scope, clock.now())}`)
      if (changes === 1) cache.delete(token)
      return changes === 1
    },
    async prune(now) {
      for (let gone = PRUNED_AT_ONCE; gone === PRUNED_AT_ONCE; ) {
        const { changes } = await db.run(
          sql`DELETE FROM responses_state WHERE token IN
                (SELECT token FROM responses_state WHERE expires_at <= ${now} LIMIT ${PRUNED_AT_ONCE})`,
        )
        gone = changes
      }
    },
  }
}

/** The rows of these callers that have not expired. */
export function mine({ orgId, keyId }: Scope, now: number): Sql {
  return sql`org_id = ${orgId ?? 0} AND (${keyId === 'all' ? 1 : 0} = 1 OR key_id = ${keyOf(keyId)}) AND expires_at > ${now}`
}

/** The column has 0 for calls without a key. */
function keyOf(keyId: Scope['keyId']): number {
  return typeof keyId === 'number' ? keyId : 0
}
