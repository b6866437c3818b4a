// Rows of conversations and their items. An item is sealed and bound to its conversation.
import { z } from 'zod'
import { sql } from '../../../core/db/sql.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Statement } from '../../../core/types/ports/db.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import { openedCache } from '../chains/opened-cache.ts'
import { mine, type Scope } from '../store.ts'

export interface Conversation {
  readonly token: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly metadata: JsonObject
}

export interface SealedItem {
  readonly id: string
  readonly sealed: string
  readonly bytes: number
}

export interface ConversationStore {
  create(scope: Scope, token: string, metadata: JsonObject, items: readonly SealedItem[]): Promise<Conversation>
  find(scope: Scope, token: string): Promise<Conversation | null>
  /**
   * Waits a short time for a turn that is under way, here or on another replica: its settlement adds items. Resolves to whether there is
   * such a conversation for this caller.
   */
  settled(scope: Scope, token: string): Promise<boolean>
  /** Says that a turn is under way. */
  begin(token: string, until: number): Promise<void>
  /** For the unit that settles the turn. */
  ended(token: string): Statement
  update(scope: Scope, token: string, metadata: JsonObject): Promise<void>
  remove(scope: Scope, token: string): Promise<boolean>
  seal(orgId: number | null, token: string, item: JsonObject): Promise<SealedItem>
  /** Appends items if the conversation still exists, and extends its time. For a unit. */
  append(scope: Scope, token: string, items: readonly SealedItem[]): Statement[]
  add(scope: Scope, token: string, items: readonly SealedItem[]): Promise<void>
  /** Returns the items, oldest first; null: they have more than `maxBytes`. */
  items(scope: Scope, token: string): Promise<JsonObject[] | null>
  item(scope: Scope, token: string, id: string): Promise<JsonObject | null>
  removeItem(scope: Scope, token: string, id: string): Promise<boolean>
  prune(now: number): Promise<void>
}

const head = z.object({ token: z.string(), created_at: z.number(), metadata_sealed: z.string() })
const placeRow = z.object({ id: z.string(), bytes: z.number() })
const itemRow = z.object({ id: z.string(), item_sealed: z.string() })

export function conversationStore(
  { db, vault, clock }: Pick<PluginGateway, 'db' | 'vault' | 'clock'>,
  { ttlMs, maxBytes }: { readonly ttlMs: number; readonly maxBytes: number },
): ConversationStore {
  const cache = openedCache<JsonObject>(CACHED_BYTES)
  const metadataPlace = (orgId: number | null, token: string) => ({
    table: 'responses_state_conversations',
    id: token,
    column: 'metadata',
    orgId,
  })
  const itemPlace = (orgId: number | null, token: string, id: string) => ({
    table: 'responses_state_items',
    id: `${token}/${id}`,
    column: 'item',
    orgId,
  })
  const opened = async (scope: Scope, token: string, { id, item_sealed }: z.output<typeof itemRow>): Promise<JsonObject> =>
    JSON.parse(await vault.open(item_sealed, itemPlace(scope.orgId, token, id))) as JsonObject

  const store: ConversationStore = {
    async create(scope, token, metadata, items) {
      const now = clock.now()
      const sealed = await vault.seal(JSON.stringify(metadata), metadataPlace(scope.orgId, token))
      const keyId = typeof scope.keyId === 'number' ? scope.keyId : 0
      await db.atomic([
        {
          sql: sql`INSERT INTO responses_state_conversations (token, org_id, key_id, created_at, expires_at, metadata_sealed)
            VALUES (${token}, ${scope.orgId ?? 0}, ${keyId}, ${now}, ${now + ttlMs}, ${sealed})`,
        },
        ...store.append(scope, token, items),
      ])
      return { token, createdAt: now, metadata }
    },
    async find(scope, token) {
      const found = await db.get(
        sql`SELECT token, created_at, metadata_sealed FROM responses_state_conversations
          WHERE token = ${token} AND ${mine(scope, clock.now())}`,
        head,
      )
      if (found === undefined) return null
      const metadata = JSON.parse(await vault.open(found.metadata_sealed, metadataPlace(scope.orgId, token))) as JsonObject
      return { token, createdAt: found.created_at, metadata }
    },
    async settled(scope, token) {
      for (const wait of [...WAITS_MS, 0]) {
        const found = await db.get<{ busy_until: number }>(
          sql`SELECT busy_until FROM responses_state_conversations WHERE token = ${token} AND ${mine(scope, clock.now())}`,
        )
        if (found === undefined) return false
        if (Number(found.busy_until) <= clock.now()) return true
        if (wait > 0) await clock.sleep(wait)
      }
      return true
    },
    async begin(token, until) {
      await db.run(sql`UPDATE responses_state_conversations SET busy_until = ${until} WHERE token = ${token}`)
    },
    ended: (token) => ({ sql: sql`UPDATE responses_state_conversations SET busy_until = 0 WHERE token = ${token}` }),
    async update(scope, token, metadata) {
      const sealed = await vault.seal(JSON.stringify(metadata), metadataPlace(scope.orgId, token))
      await db.run(sql`UPDATE responses_state_conversations SET metadata_sealed = ${sealed}
        WHERE token = ${token} AND ${mine(scope, clock.now())}`)
    },
    async remove(scope, token) {
      if ((await store.find(scope, token)) === null) return false
      await db.atomic([
        { sql: sql`DELETE FROM responses_state_items WHERE conversation = ${token}` },
        { sql: sql`DELETE FROM responses_state_conversations WHERE token = ${token}` },
      ])
      return true
    },
    async seal(orgId, token, item) {
      const text = JSON.stringify(item)
      const id = String(item.id)
      return { id, sealed: await vault.seal(text, itemPlace(orgId, token, id)), bytes: text.length }
    },
    append({ orgId }, token, items) {
      const now = clock.now()
      // After the items that are there, also after those of the same millisecond.
      const after = (place: number) =>
        sql`(SELECT CASE WHEN MAX(place) >= ${place} THEN MAX(place) + 1 ELSE ${place} END FROM responses_state_items WHERE conversation = ${token})`
      const isThere = sql`EXISTS (SELECT 1 FROM responses_state_conversations WHERE token = ${token} AND org_id = ${orgId ?? 0})`
      return [
        ...items.map(({ id, sealed, bytes }, index) => ({
          sql: sql`INSERT INTO responses_state_items (conversation, id, org_id, place, bytes, item_sealed)
            SELECT ${token}, ${id}, ${orgId ?? 0}, ${after(now * PLACES + index)}, ${bytes}, ${sealed} WHERE ${isThere}
            ON CONFLICT (conversation, id) DO NOTHING`,
          // Otherwise a transaction that overlaps with this one would take the same places.
          lock: `conversation:${token}`,
        })),
        {
          sql: sql`UPDATE responses_state_conversations SET expires_at = ${now + ttlMs} WHERE token = ${token} AND org_id = ${orgId ?? 0}`,
        },
      ]
    },
    async add(scope, token, items) {
      await db.atomic(store.append(scope, token, items))
    },
    async items(scope, token) {
      const places = await db.all(
        sql`SELECT id, bytes FROM responses_state_items WHERE conversation = ${token} ORDER BY place, id`,
        placeRow,
      )
      if (places.reduce((sum, { bytes }) => sum + bytes, 0) > maxBytes) return null
      const known = new Map(places.map(({ id }) => [id, cache.get(`${token}.${id}`)]))
      const unread = places.filter(({ id }) => known.get(id) === undefined)
      for (let from = 0; from < unread.length; from += READ_AT_ONCE) {
        const some = unread.slice(from, from + READ_AT_ONCE)
        const sizes = new Map(some.map(({ id, bytes }) => [id, bytes]))
        const rows = await db.all(
          sql`SELECT id, item_sealed FROM responses_state_items WHERE conversation = ${token} AND id IN ${sql.in([...sizes.keys()])}`,
          itemRow,
        )
        for (const one of rows) {
          const item = await opened(scope, token, one)
          known.set(one.id, item)
          cache.set(`${token}.${one.id}`, item, sizes.get(one.id) ?? 0)
        }
      }
      return places.map(({ id }) => known.get(id)).filter((item) => item !== undefined)
    },
    async item(scope, token, id) {
      const found = await db.get(
        sql`SELECT id, item_sealed FROM responses_state_items WHERE conversation = ${token} AND id = ${id}`,
        itemRow,
      )
      return found === undefined ? null : opened(scope, token, found)
    },
    async removeItem(_scope, token, id) {
      const { changes } = await db.run(sql`DELETE FROM responses_state_items WHERE conversation = ${token} AND id = ${id}`)
      return changes === 1
    },
    async prune(now) {
      const gone = sql`SELECT token FROM responses_state_conversations WHERE expires_at <= ${now}`
      await db.atomic([
        { sql: sql`DELETE FROM responses_state_items WHERE conversation IN (${gone})` },
        { sql: sql`DELETE FROM responses_state_conversations WHERE expires_at <= ${now}` },
      ])
    },
  }
  return store
}

const READ_AT_ONCE = 500
const CACHED_BYTES = 16 * 1024 * 1024
const WAITS_MS = [10, 40, 150, 300]
/** Items of one millisecond keep their order. */
const PLACES = 1000
