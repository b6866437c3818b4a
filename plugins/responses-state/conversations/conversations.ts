// /v1/conversations: items that the gateway keeps for `conversation` of POST /v1/responses.
import { z } from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { decodeUtf8 } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import { pageOf, withItemIds } from '../input-items.ts'
import type { Parts } from '../parts.ts'
import { noConversation, tooLarge } from '../refusals.ts'
import { json } from '../reply.ts'
import type { Conversation } from './conversation-store.ts'

type Caller = Pick<RequestContext, 'principal' | 'ingress' | 'rawBody'>

/** Items of one request, as on the API that this follows. */
const MOST_ITEMS = 20
const ID = 'conv_[\\w-]{1,128}'
const ONE = new RegExp(`^${ID}$`)
const ITEMS = new RegExp(`^${ID}/items$`)
const ITEM = new RegExp(`^${ID}/items/[\\w-]{1,256}$`)
const ROOT = '/v1/conversations'
const COMMON = { operation: 'responses', models: 'none', scope: 'rate' } as const

const metadataShape = z.record(z.string().max(64), z.string().max(512))
const itemShape = z.looseObject({ type: z.string().nullish() })
const createBody = z.looseObject({
  items: z.array(itemShape).max(MOST_ITEMS).nullish(),
  metadata: metadataShape.nullish().describe('At most 16 texts.'),
})
const conversation = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
})
const list = z.object({
  object: z.literal('list'),
  data: z.array(z.looseObject({})),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

export function addConversations(gateway: Pick<PluginGateway, 'data'>, { ids, items, conversations, readers }: Parts): void {
  gateway.data({
    ...COMMON,
    method: 'POST',
    path: ROOT,
    summary: 'Creates a conversation.',
    body: createBody,
    response: conversation,
    async handler(ctx) {
      const body = bodyOf(ctx)
      const metadata = metadataIn(body) ?? {}
      const token = ids.token()
      const { orgId, keyId } = ctx.principal
      const added = await sealed(orgId, token, itemsIn(body, false))
      return json(shown(await conversations.create({ orgId, keyId }, token, metadata, added.sealed)))
    },
  })
  gateway.data({
    ...COMMON,
    method: 'GET',
    path: `${ROOT}/*`,
    template: `${ROOT}/{id}`,
    accepts: (rest) => ONE.test(rest),
    summary: 'Returns a conversation.',
    response: conversation,
    handler: async (ctx) => json(shown(await found(ctx))),
  })
  gateway.data({
    ...COMMON,
    method: 'POST',
    path: `${ROOT}/*`,
    template: `${ROOT}/{id}`,
    accepts: (rest) => ONE.test(rest),
    summary: 'Replaces the metadata of a conversation.',
    body: z.looseObject({ metadata: metadataShape }),
    response: conversation,
    async handler(ctx) {
      const one = await found(ctx)
      const metadata = metadataIn(bodyOf(ctx))
      if (metadata === null) throw GatewayError.invalid('metadata', '`metadata` is required.')
      await conversations.update(readers(ctx), one.token, metadata)
      return json(shown({ ...one, metadata }))
    },
  })
  gateway.data({
    ...COMMON,
    method: 'DELETE',
    path: `${ROOT}/*`,
    template: `${ROOT}/{id}`,
    accepts: (rest) => ONE.test(rest),
    summary: 'Deletes a conversation and its items.',
    response: z.object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) }),
    async handler(ctx) {
      const { token } = await found(ctx)
      await conversations.remove(readers(ctx), token)
      return json({ id: ids.conversation(token), object: 'conversation.deleted', deleted: true })
    },
  })
  gateway.data({
    ...COMMON,
    method: 'GET',
    path: `${ROOT}/conv_*`,
    template: `${ROOT}/{id}/items`,
    accepts: (rest) => ITEMS.test(`conv_${rest}`),
    summary: 'Lists the items of a conversation, the newest first.',
    response: list,
    async handler(ctx) {
      const { token } = await found(ctx)
      await conversations.settled(readers(ctx), token)
      const all = await conversations.items(readers(ctx), token)
      if (all === null) throw tooLarge()
      return json({ ...pageOf(all, ctx.ingress?.query ?? '') })
    },
  })
  gateway.data({
    ...COMMON,
    method: 'POST',
    path: `${ROOT}/conv_*`,
    template: `${ROOT}/{id}/items`,
    accepts: (rest) => ITEMS.test(`conv_${rest}`),
    summary: 'Adds up to 20 items to a conversation.',
    body: z.looseObject({ items: z.array(itemShape).min(1).max(MOST_ITEMS) }),
    response: list,
    async handler(ctx) {
      const { token } = await found(ctx)
      await conversations.settled(readers(ctx), token)
      const { orgId } = ctx.principal
      const added = await sealed(orgId, token, itemsIn(bodyOf(ctx), true))
      await conversations.add(readers(ctx), token, added.sealed)
      return json({ ...pageOf(added.items, 'order=asc&limit=100') })
    },
  })
  gateway.data({
    ...COMMON,
    method: 'GET',
    path: `${ROOT}/conv_gw*`,
    template: `${ROOT}/{id}/items/{item_id}`,
    accepts: (rest) => ITEM.test(`conv_gw${rest}`),
    summary: 'Returns an item of a conversation.',
    response: z.looseObject({ id: z.string(), type: z.string() }),
    async handler(ctx) {
      const { token } = await found(ctx)
      const id = partOf(ctx, 5)
      const item = await conversations.item(readers(ctx), token, id)
      if (item === null) throw noItem(id)
      return json(item)
    },
  })
  gateway.data({
    ...COMMON,
    method: 'DELETE',
    path: `${ROOT}/conv_gw*`,
    template: `${ROOT}/{id}/items/{item_id}`,
    accepts: (rest) => ITEM.test(`conv_gw${rest}`),
    summary: 'Deletes an item of a conversation.',
    response: conversation,
    async handler(ctx): Promise<Result> {
      const one = await found(ctx)
      const id = partOf(ctx, 5)
      if (!(await conversations.removeItem(readers(ctx), one.token, id))) throw noItem(id)
      return json(shown(one))
    },
  })

  async function found(ctx: Caller): Promise<Conversation> {
    const id = partOf(ctx, 3)
    const place = ids.read(id)
    const one = place?.kind === 'conv' ? await conversations.find(readers(ctx), place.token) : null
    if (one === null) throw noConversation(id)
    return one
  }

  function shown({ token, createdAt, metadata }: Conversation): JsonObject {
    return { id: ids.conversation(token), object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata }
  }

  async function sealed(orgId: number | null, token: string, given: readonly JsonObject[]) {
    const named = withItemIds(items.write(items.read(given)))
    return { items: named, sealed: await Promise.all(named.map((item) => conversations.seal(orgId, token, item))) }
  }
}

function partOf({ ingress }: Pick<Caller, 'ingress'>, index: number): string {
  return ingress?.path.split('/')[index] ?? ''
}

function bodyOf({ rawBody }: Caller): JsonObject {
  return rawBody === null ? {} : (JSON.parse(decodeUtf8(rawBody)) as JsonObject)
}

function metadataIn({ metadata }: JsonObject): JsonObject | null {
  if (metadata === undefined || metadata === null) return null
  const parsed = metadataShape.safeParse(metadata)
  if (!parsed.success || Object.keys(parsed.data).length > 16)
    throw GatewayError.invalid('metadata', '`metadata` must map at most 16 names of 64 characters to texts of 512 characters.')
  return parsed.data
}

function itemsIn({ items }: JsonObject, isRequired: boolean): JsonObject[] {
  if (!isRequired && (items === undefined || items === null)) return []
  const parsed = z.array(itemShape).safeParse(items)
  if (!parsed.success || parsed.data.length > MOST_ITEMS || (isRequired && parsed.data.length === 0))
    throw GatewayError.invalid('items', `\`items\` must be a list of at most ${MOST_ITEMS} items.`)
  return parsed.data as JsonObject[]
}

function noItem(id: string): GatewayError {
  return new GatewayError(`Item with id '${id}' not found.`, {
    status: 404,
    type: 'invalid_request_error',
    code: 'item_not_found',
  })
}
