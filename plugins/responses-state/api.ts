// /api/responses: what is stored of an organization, for its administrators. The routes are there also while nothing new is stored.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { JsonObject } from '../../core/types/request/canonical.ts'
import type { Parts } from './parts.ts'
import type { Listed, Records, Selection } from './records.ts'
import { noConversation, noResponse } from './refusals.ts'
import type { Scope } from './store.ts'

const MOST = 200
const EXPORTED_AT_ONCE = 100
const record = z.strictObject({
  id: z.string(),
  object: z.enum(['response', 'conversation']),
  key_id: z.int().nullable(),
  status: z.string().describe('`open` for a conversation.'),
  created_at: z.string(),
  expires_at: z.string(),
  bytes: z.int().describe('Size of the input and the output of a stored response.'),
})
const content = record.extend({
  input: z.array(z.looseObject({})).describe('Input items of a response, or the items of a conversation.'),
  response: z.looseObject({}).nullable(),
  metadata: z.looseObject({}).nullable(),
})
const whole = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
const keyQuery = { key_id: whole.optional().describe('0: calls without a key.') }
const CURSOR = /^(\d{1,16})\.([A-Za-z0-9]{1,64})$/

export function addApi(gateway: Pick<PluginGateway, 'api'>, parts: Parts, records: Records): void {
  const { ids, items, store, runs, events, conversations, answerOf } = parts
  const idOf = ({ kind, token }: Pick<Listed, 'kind' | 'token'>): string =>
    kind === 'response' ? ids.response(token) : ids.conversation(token)
  const shown = (one: Listed) => ({
    id: idOf(one),
    object: one.kind,
    key_id: one.key_id === 0 ? null : one.key_id,
    status: one.status,
    created_at: new Date(one.created_at).toISOString(),
    expires_at: new Date(one.expires_at).toISOString(),
    bytes: one.bytes,
  })
  const selectionOf = (orgId: number | null, keyId?: number): Selection => ({ orgId: orgId ?? 0, keyId })
  const scopeOf = (orgId: number | null): Scope => ({ orgId, keyId: 'all' })

  gateway.api({
    method: 'GET',
    path: '/api/responses',
    summary: 'Lists stored responses and conversations, newest first, without their texts.',
    role: 'manage',
    query: z.strictObject({
      ...keyQuery,
      limit: whole.pipe(z.number().min(1, 'must be at least 1').max(MOST, `must be at most ${MOST}`)).default(50),
      cursor: z.string().regex(CURSOR).optional(),
    }),
    response: z.strictObject({ data: z.array(record), next_cursor: z.string().nullable() }),
    async handler({ query: { key_id, limit, cursor }, orgId }) {
      const [, at = '', token = ''] = CURSOR.exec(cursor ?? '') ?? []
      const found = await records.list(selectionOf(orgId, key_id), limit + 1, at === '' ? null : [Number(at), token])
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const more = found.length > limit && last !== undefined
      return { data: page.map(shown), next_cursor: more ? `${last.created_at}.${last.token}` : null }
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/responses/export',
    summary: 'Writes stored responses and conversations with their texts, one JSON object a line.',
    role: 'manage',
    query: z.strictObject(keyQuery),
    handler({ query: { key_id }, orgId }) {
      const selection = selectionOf(orgId, key_id)
      let after: [number, string] | null = null
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          const page: Listed[] = await records.list(selection, EXPORTED_AT_ONCE, after)
          const last = page.at(-1)
          if (last === undefined) return controller.close()
          after = [last.created_at, last.token]
          for (const one of page) controller.enqueue(encodeUtf8(`${JSON.stringify(await contentOf(scopeOf(orgId), one))}\n`))
        },
      })
      return new Response(body, { headers: { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' } })
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/responses/:id',
    summary: 'Returns a stored response or conversation with its texts.',
    role: 'manage',
    params: z.strictObject({ id: z.string() }),
    response: content,
    async handler({ params: { id }, orgId }) {
      const place = placeOf(id)
      const one = await records.find(selectionOf(orgId), place.token)
      if (one === undefined) throw missing(id)
      return contentOf(scopeOf(orgId), one)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/responses/:id',
    summary: 'Deletes a stored response or conversation.',
    role: 'manage',
    audit: 'response.delete',
    params: z.strictObject({ id: z.string() }),
    response: z.strictObject({ id: z.string(), deleted: z.literal(true) }),
    async handler({ params: { id }, orgId }) {
      const { kind, token } = placeOf(id)
      const scope = scopeOf(orgId)
      const gone =
        kind === 'conv'
          ? await conversations.remove(scope, token)
          : [await runs.remove(scope, token), await store.remove(scope, token)].includes(true)
      if (!gone) throw missing(id)
      if (kind === 'resp') await events.remove(token)
      return { id, deleted: true as const }
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/responses',
    summary: 'Deletes every stored response and conversation of a key, or with `all=true` of the organization.',
    role: 'manage',
    audit: 'response.delete_all',
    query: z.strictObject({ ...keyQuery, all: z.enum(['true', 'false']).default('false') }),
    response: z.strictObject({ deleted: z.int() }),
    async handler({ query: { key_id, all }, orgId, audited }) {
      if ((key_id === undefined) === (all === 'false'))
        throw GatewayError.invalid('key_id', 'Give either `key_id` or `all=true`.')
      const deleted = await records.removeAll(selectionOf(orgId, key_id))
      audited(key_id === undefined ? 'all' : `key ${key_id}`, { deleted })
      return { deleted }
    },
  })

  async function contentOf(scope: Scope, one: Listed) {
    const none = { input: [] as JsonObject[], response: null, metadata: null }
    if (one.kind === 'conversation') {
      const found = await conversations.find(scope, one.token)
      const input = (await conversations.items(scope, one.token)) ?? []
      return { ...shown(one), ...none, input, metadata: found?.metadata ?? null }
    }
    const found = await store.response(scope, one.token)
    const response = await answerOf(scope, one.token)
    return { ...shown(one), ...none, input: found === null ? [] : items.write(found.turn.messages), response }
  }

  /** @throws GatewayError 404 for a forged id. */
  function placeOf(id: string): { kind: string; token: string } {
    const place = ids.read(id)
    if (place?.kind !== 'resp' && place?.kind !== 'conv') throw missing(id)
    return place
  }

  function missing(id: string): GatewayError {
    return id.startsWith('conv_') ? noConversation(id) : noResponse(id)
  }
}
