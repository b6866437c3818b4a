// Responses, conversations, items, containers and files that a vendor stores belong to the client key that created them. On a shared
// upstream account another key could otherwise read them by their ids. Ids that the gateway did not see created are passed on.
import { z } from 'zod'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { searchable } from '../../core/text/bytes.ts'
import type { Ext, Frozen, Part } from '../../core/types/request/canonical.ts'
import type { Principal, RequestContext } from '../../core/types/request/context.ts'
import { idOf, idsIn, idsOfAnswer, idsOfRequest, type VendorIdKind } from './named-ids.ts'

/** Longer ids are not recorded. */
const MAX_ID = 256

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
      about:
        'Refuse ids of what vendors store for another key: responses, items, containers, files; auto: on in the profile cloud.',
    },
  },
  setup(gateway, config) {
    const { log, profile, storage, vault } = gateway
    if (config.enforce === 'off' || (config.enforce === 'auto' && profile !== 'cloud')) return
    const created = gateway.slot<{ stored: boolean; tools: boolean }>()
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
        const conversation = idOf(state?.conversation)
        if (await isForeign(ctx, 'conversation', conversation)) throw unknownConversation(conversation as string)
      },
      { when: (ctx) => ctx.dialect === 'responses' && refersToState(ctx.rawBody) },
    )

    gateway.hook(
      'request',
      async (ctx) => {
        const named = new Map<string, VendorIdKind>()
        idsOfRequest((ctx.request as RequestContext<'chat'>['request']) ?? {}, (kind, id) => named.set(id, kind))
        for (const [id, kind] of named) if (await isForeign(ctx, kind, id)) throw unknown(kind, id)
      },
      { operation: 'chat', when: namesStored },
    )

    gateway.hook(
      'encoded',
      (ctx, { codec, request }) => {
        const stored = codec.upstream === 'responses' && request.state?.store !== false
        const tools = request.state?.container !== undefined || request.tools.some(({ t }) => t === 'server')
        created.set(ctx, { stored: stored && ctx.dialect === 'responses', tools })
      },
      { operation: 'chat', when: (ctx) => ctx.dialect === 'responses' || usesTools(ctx.rawBody) },
    )

    const learn = (ctx: RequestContext, id: string | null, ext: Frozen<Ext> | undefined): void => {
      if (created.get(ctx)?.stored === true) {
        remember(ctx, 'response', id)
        remember(ctx, 'conversation', idOf(ext?.responses?.conversation))
      }
      if (ext?.messages !== undefined) idsIn(ext.messages, (kind, named) => remember(ctx, kind, named))
    }
    const learnPart = (ctx: RequestContext, part: Frozen<Part>): void => {
      const items = created.get(ctx)?.stored === true
      idsOfAnswer(part, (kind, id) => {
        if (kind !== 'item' || items) remember(ctx, kind, id)
      })
    }
    const when = (ctx: RequestContext): boolean => {
      const found = created.get(ctx)
      return found !== undefined && (found.stored || found.tools)
    }
    gateway.hook(
      'stream',
      (ctx) => ({
        passive: true,
        event(event) {
          if (event.e === 'start') learn(ctx, event.id, event.ext)
          else if (event.e === 'end') learn(ctx, null, event.ext)
          else if (event.e === 'part_stop') learnPart(ctx, event.full)
        },
      }),
      { order: 'pre', when },
    )
    gateway.hook(
      'response',
      (ctx, { id, ext, choices }) => {
        learn(ctx, id, ext)
        for (const { parts } of choices) for (const part of parts) learnPart(ctx, part)
      },
      { order: 'pre', operation: 'chat', when },
    )
  },
})

function ownerOf({ keyId, orgId }: Principal): string {
  return JSON.stringify([orgId, keyId])
}

/** A letter of a member name may be escaped; letters of other scripts have other escapes. */
const ESCAPED = ['\\u005', '\\u006', '\\u007']
const STATE = ['previous_response_id', 'conversation', ...ESCAPED]
const STORED = ['"container', '"file_id', ...ESCAPED]
const TOOLS = ['"code_', '"web_', '"file_search', '"container', ...ESCAPED]

const refersToState = (body: Uint8Array | null): boolean => hasAny(body, STATE)
const namesStored = ({ rawBody, dialect }: RequestContext): boolean =>
  hasAny(rawBody, STORED) || (dialect === 'responses' && hasAny(rawBody, ['"id"']))
const usesTools = (body: Uint8Array | null): boolean => hasAny(body, TOOLS)

/** A byte search, so that requests without these members are not decoded. A key may be escaped, so an escape counts as a match. */
function hasAny(body: Uint8Array | null, texts: readonly string[]): boolean {
  if (body === null) return true
  const bytes = searchable(body, 0, body.length)
  return texts.some((text) => bytes.includes(text))
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

const WORDS = { item: ['Item', 'input'], container: ['Container', 'container'], file: ['File', 'file_id'] } as const

function unknown(kind: VendorIdKind, id: string): GatewayError {
  const [noun, param] = WORDS[kind as keyof typeof WORDS]
  return new GatewayError(`${noun} with id '${id}' not found.`, {
    status: 404,
    type: 'invalid_request_error',
    param,
    code: `${kind}_not_found`,
  })
}

export default vendorIds
