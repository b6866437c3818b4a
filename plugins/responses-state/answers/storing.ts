// Gives answers ids of ours, and writes the turn with the settlement of its request.
import { randomId } from '../../../core/ids/ids.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Run } from '../background/runs.ts'
import { ownMessages, withItems } from '../chains/history.ts'
import { isResponses, type Resolved } from '../chains/resolving.ts'
import type { SealedItem } from '../conversations/conversation-store.ts'
import { MAX_PLACE } from '../ids.ts'
import { withItemIds } from '../input-items.ts'
import type { Parts } from '../parts.ts'
import type { SealedTurn } from '../store.ts'
import type { Native, Turn } from '../turn.ts'
import { IdRewriter } from './rewriter.ts'

interface Storing {
  /** The connection whose upstream speaks this dialect; null: another dialect, or no upstream. */
  native: string | null
  row: SealedTurn | null
  /** For the conversation. */
  added: readonly SealedItem[]
}

interface Texts {
  readonly turn: string
  readonly head: string
  /** The items that the conversation gets. */
  readonly items: readonly JsonObject[]
}

export interface StoringOptions {
  readonly maxBytes: number
  resolved(ctx: RequestContext): Resolved | undefined
  /** Returns the background run that the request is. */
  runOf(ctx: RequestContext): Run | undefined
}

export function addStoring(gateway: PluginGateway, parts: Parts, { maxBytes, resolved, runOf }: StoringOptions): void {
  const { ids, items, store, conversations, ttlMs } = parts
  const { clock, log } = gateway
  const storing = gateway.slot<Storing>()

  gateway.hook(
    'request',
    (ctx) => {
      const { previous = null, conversation = null } = resolved(ctx) ?? {}
      const stores = isStored(ctx)
      // The answer may also name what it continues by an id of the upstream.
      if (!stores && previous === null && conversation === null) return
      const isLarge = stores && ctx.bodyBytes > maxBytes
      if (isLarge) ctx.warn('response_not_stored')
      const run = runOf(ctx)
      const token = run?.token ?? ids.token()
      const isFresh = () => run !== undefined || ctx.cached === false
      const state: Storing = { native: null, row: null, added: [] }
      storing.set(ctx, state)
      let plain: Texts | null = null
      ctx.rewriter = new IdRewriter({
        idFor: (id, index) => (stores && !isLarge && isFresh() ? ownId(token, id, index) : freshId(id)),
        members: {
          ...(previous === null ? {} : { previous_response_id: previous.id }),
          ...(conversation === null ? {} : { conversation: { id: conversation.id } }),
          ...(run === undefined ? {} : { background: true, created_at: Math.floor(run.createdAt / 1000) }),
        },
        finished(response, upstream) {
          if ((!stores && conversation === null) || isLarge || !isFresh()) return false
          const texts = readable(ctx, response, state.native, upstream)
          if (texts === null) return false
          const bytes = texts.turn.length + texts.head.length
          if (!tooLarge(ctx, bytes)) plain = texts
          return stores && plain !== null
        },
        refused: (bytes) => tooLarge(ctx, bytes),
        async end() {
          await run?.recorded()
          if (plain === null) return
          if (conversation !== null)
            state.added = await Promise.all(
              plain.items.map((item) => conversations.seal(ctx.principal.orgId, conversation.token, item)),
            )
          if (!stores) return
          const sealed = await store.seal(ctx.principal.orgId, token, plain.turn, plain.head)
          state.row = { token, parent: previous?.token ?? null, ...sealed }
        },
      })
    },
    { order: 'post', operation: 'chat', when: (ctx) => isResponses(ctx) && (isStored(ctx) || resolved(ctx) !== undefined) },
  )

  gateway.hook(
    'encoded',
    (ctx, call) => {
      const state = storing.get(ctx)
      const isNative = call.codec.upstream === 'responses'
      if (state === undefined) return
      state.native = isNative ? call.candidate.connection.id : null
      // The upstream does not keep what the gateway cannot name.
      if (isNative && isStored(ctx) && ctx.bodyBytes > maxBytes) call.body.set('store', false)
    },
    { order: 'post', operation: 'chat', when: (ctx) => storing.get(ctx) !== undefined },
  )

  gateway.hook(
    'settle',
    (ctx, { status, aborted, error, cached }, unit) => {
      const row = storing.get(ctx)?.row ?? null
      const run = runOf(ctx)
      const { added = [] } = storing.get(ctx) ?? {}
      const conversation = resolved(ctx)?.conversation ?? null
      if (conversation !== null) unit.add(conversations.ended(conversation.token))
      if (status !== 200 || aborted || error !== undefined || (cached !== false && run === undefined)) return
      const { orgId, keyId } = ctx.principal
      if (conversation !== null && added.length > 0)
        unit.add(...conversations.append({ orgId, keyId }, conversation.token, added))
      if (row === null) return
      const now = clock.now()
      unit.add(store.insert({ orgId, keyId }, row, run?.createdAt ?? now, (run?.createdAt ?? now) + ttlMs))
      if (run !== undefined) unit.add(run.stored())
    },
    { onError: 'open' },
  )

  function tooLarge(ctx: RequestContext, bytes: number): boolean {
    if (bytes <= maxBytes) return false
    ctx.warn('response_not_stored')
    log.warn('responses_state.too_large', { request: ctx.id, bytes })
    return true
  }

  /** Returns null for a request that the upstream accepted and the gateway cannot read. It is answered and not stored. */
  function readable(...args: Parameters<typeof textsOf>): Texts | null {
    try {
      return textsOf(...args)
    } catch (error) {
      const [ctx] = args
      ctx.warn('response_not_stored')
      log.warn('responses_state.unreadable_request', { request: ctx.id, error: String(error) })
      return null
    }
  }

  function textsOf(
    ctx: RequestContext<'chat'>,
    response: JsonObject,
    connection: string | null,
    upstream: ReadonlyMap<string, string>,
  ): Texts {
    const state = resolved(ctx)
    // Read here, because policies may have changed texts since the request came in.
    const own = ownMessages(ctx.request).slice(state?.after ?? 0)
    const messages = withItems(own, state?.items ?? new Map(), ids, items)
    const conversation = state?.conversation?.token
    const native = connection === null || response.store === false ? null : nativeOf(connection, response, upstream)
    const turn: Turn = {
      messages,
      output: (response.output ?? []) as JsonObject[],
      ...(conversation === undefined ? {} : { conversation }),
      ...(state?.begins === true ? { begins: true } : {}),
      ...(native === null ? {} : { native }),
    }
    const added = conversation === undefined ? [] : [...withItemIds(items.write(messages)), ...turn.output]
    return { turn: JSON.stringify(turn), head: JSON.stringify({ ...response, output: [], store: true }), items: added }
  }

  function ownId(token: string, id: string, index: number | null): string {
    if (index === null) return ids.response(token)
    return index > MAX_PLACE ? id : ids.item(prefixOf(id), token, index)
  }
}

/** `store` is true by default. */
function isStored(ctx: RequestContext): boolean {
  return ctx.member('store') !== false
}

function nativeOf(connection: string, response: JsonObject, upstream: ReadonlyMap<string, string>): Native | null {
  const items: Record<string, string> = {}
  let own: string | null = null
  for (const [theirs, ours] of upstream) {
    if (ours === response.id) own = theirs
    else items[ours] = theirs
  }
  return own === null ? null : { connection, response: own, items }
}

function freshId(id: string): string {
  return randomId(prefixOf(id))
}

function prefixOf(id: string): string {
  return `${/^[a-z]{1,8}(?=_)/.exec(id)?.[0] ?? 'item'}_`
}
