// Responses and conversations that a vendor stores belong to the client key that created them. On a shared upstream account another
// key could otherwise read them by their ids. Ids that the gateway did not see created are passed on.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { searchable } from '../../core/text/bytes.ts'
import type { Ext, Frozen, Json } from '../../core/types/request/canonical.ts'
import type { Principal, RequestContext } from '../../core/types/request/context.ts'

/** Longer ids are not recorded. */
const MAX_ID = 256

export type VendorIdKind = 'response' | 'conversation'

const owned = z.object({ owner: z.string() })

export const vendorIds = definePlugin({
  name: 'vendor-ids',
  config: z.strictObject({
    /** `auto`: on the cloud profile, where keys belong to different tenants. */
    enforce: z.enum(['auto', 'on', 'off']).default('auto'),
    /** Seconds to remember an id; vendors delete stored responses after 30 days. */
    ttlSecs: z
      .int()
      .min(1)
      .default(30 * 24 * 3600),
  }),
  variables: {
    VENDOR_IDS: {
      option: 'enforce',
      about: 'Refuse ids of stored responses that another key created; auto: on in the profile cloud.',
    },
  },
  setup(gateway, config) {
    const { log, profile, storage, vault } = gateway
    if (config.enforce === 'off' || (config.enforce === 'auto' && profile !== 'cloud')) return
    const created = gateway.slot<boolean>()
    const seen = gateway.slot<Set<string>>()

    const keyOf = (kind: VendorIdKind, id: string): string => vault.mac('vendor-id', JSON.stringify([kind, id]))
    const remember = (ctx: RequestContext, kind: VendorIdKind, id: string | null): void => {
      if (id === null || id === '' || id.length > MAX_ID) return
      const ids = seen.get(ctx) ?? new Set()
      seen.set(ctx, ids)
      const key = keyOf(kind, id)
      if (ids.has(key)) return
      ids.add(key)
      storage
        .setItem(key, { owner: ownerOf(ctx.principal) }, { ttl: config.ttlSecs })
        .catch((error: unknown) => log.warn('vendor_ids.unwritten', { error: String(error) }))
    }
    /** True when another key created it. The first owner of a conversation stays its owner. */
    const isForeign = async (ctx: RequestContext, kind: VendorIdKind, id: string | null): Promise<boolean> => {
      if (id === null || id.length > MAX_ID) return false
      const found = owned.safeParse(await storage.getItem(keyOf(kind, id)))
      return found.success && found.data.owner !== ownerOf(ctx.principal)
    }

    gateway.hook(
      'request',
      async (ctx) => {
        const { state } = ctx.request as RequestContext<'chat'>['request']
        const previous = state?.previousResponseId ?? null
        if (await isForeign(ctx, 'response', previous)) throw unknownResponse(previous as string)
        const conversation = conversationIn(state?.conversation)
        if (await isForeign(ctx, 'conversation', conversation)) throw unknownConversation(conversation as string)
      },
      { when: (ctx) => ctx.dialect === 'responses' && refersToState(ctx.rawBody) },
    )

    gateway.hook(
      'encoded',
      (ctx, { codec, request }) => {
        const stored = codec.upstream === 'responses' && request.state?.store !== false
        created.set(ctx, stored)
      },
      { operation: 'chat', when: (ctx) => ctx.dialect === 'responses' },
    )

    const learn = (ctx: RequestContext, id: string | null, ext: Frozen<Ext> | undefined): void => {
      remember(ctx, 'response', id)
      remember(ctx, 'conversation', conversationIn(ext?.responses?.conversation))
    }
    const when = (ctx: RequestContext): boolean => created.get(ctx) === true
    gateway.hook(
      'stream',
      (ctx) => ({
        passive: true,
        event(event) {
          if (event.e === 'start') learn(ctx, event.id, event.ext)
          else if (event.e === 'end') learn(ctx, null, event.ext)
        },
      }),
      { order: 'pre', when },
    )
    gateway.hook('response', (ctx, { id, ext }) => learn(ctx, id, ext), { order: 'pre', operation: 'chat', when })
  },
})

function ownerOf({ keyId, orgId }: Principal): string {
  return JSON.stringify([orgId, keyId])
}

/** `conversation` is an id, or an object with one. */
function conversationIn(value: Frozen<Json> | undefined): string | null {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { id } = value as { readonly id?: unknown }
  return typeof id === 'string' ? id : null
}

const MEMBERS = ['previous_response_id', 'conversation', '\\u']

/** A byte search, so that requests without these members are not decoded. A key may be escaped, so an escape counts as a match. */
function refersToState(body: Uint8Array | null): boolean {
  if (body === null) return true
  const bytes = searchable(body, 0, body.length)
  return MEMBERS.some((text) => bytes.includes(text))
}

/** The same answer as the vendor's for an unknown id. */
function unknownResponse(id: string): GatewayError {
  return GatewayError.invalid(
    'previous_response_id',
    `Previous response with id '${id}' not found.`,
    'previous_response_not_found',
  )
}

function unknownConversation(id: string): GatewayError {
  return new GatewayError(`Conversation with id '${id}' not found.`, {
    status: 404,
    type: 'invalid_request_error',
    param: 'conversation',
    code: 'conversation_not_found',
  })
}

export default vendorIds
