// Reads the stored conversation that a request continues.
import { byteLength } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { CanonicalRequest, Frozen, JsonObject, Message } from '../../../core/types/request/canonical.ts'
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { Parts } from '../parts.ts'
import { noConversation, tooLarge, unknownResponse } from '../refusals.ts'
import type { Turn } from '../turn.ts'
import { type IsOwn, itemsSinceCompaction, sinceCompaction } from './compacted.ts'
import { type ChatContext, isOpen, ownMessages, type ReadTurn, turnReader, withItems } from './history.ts'

export interface Named {
  readonly token: string
  readonly id: string
}

/** The stored turns that a request continues. */
export interface Continued {
  readonly previous: Named | null
  readonly conversation: Named | null
  /** True: the request's own input has a compaction item, which holds the content of earlier turns. */
  readonly begins: boolean
  /** Items by the ids of references. */
  readonly items: ReadonlyMap<string, JsonObject>
  /** The turns up to the previous one; loaded when they are needed. */
  chain: Turn[] | null
}

export interface Whole {
  readonly messages: Message[]
  /** Number of messages that the gateway put in front of the request's own. */
  readonly before: number
  /** UTF-8 bytes that are not in the body. */
  readonly bytes: number
}

export interface Histories {
  whole(ctx: ChatContext, state: Continued, request: Frozen<CanonicalRequest>): Promise<Whole>
  /** Returns the conversation up to a response. @throws GatewayError 400 when there is none for this caller */
  upTo(ctx: RequestContext, response: Named): Promise<ReadTurn>
  /** Asks again for a short time before it returns null. */
  found<T>(ask: () => Promise<T | null>): Promise<T | null>
}

/** A settlement may still be under way, here or on another replica. */
const WAITS_MS = [10, 40, 150, 300]
/** A turn of a conversation that takes longer is not waited for. */
const BUSY_MS = 60_000
const NOTHING: ReadTurn = { messages: [], bytes: 0 }

export function histories(
  gateway: Pick<PluginGateway, 'clock' | 'optional'>,
  { ids, items, store, conversations, readers }: Parts,
): Histories {
  const { clock } = gateway
  const compactions = gateway.optional('compactionItems')
  const isOwn: IsOwn = (item) => compactions()?.isOwn(item) === true
  const messagesOf = turnReader(items, compactions)

  /** The whole conversation: stored turns, then the request's own input with the items in place of references. */
  async function whole(ctx: ChatContext, state: Continued, request: Frozen<CanonicalRequest>): Promise<Whole> {
    const { messages: before, bytes } = state.begins ? NOTHING : await historyOf(ctx, state)
    const named = withItems(ownMessages(request), state.items, ids, items)
    const own = state.items.size === 0 ? named : ((await compactions()?.open(named, ctx.principal.orgId)) ?? named)
    const inserted = state.items.size === 0 ? 0 : byteLength(JSON.stringify([...state.items.values()]))
    return { messages: [...before, ...own], before: before.length, bytes: bytes + inserted }
  }

  async function historyOf(ctx: ChatContext, state: Continued): Promise<ReadTurn> {
    const { previous, conversation } = state
    const { orgId } = ctx.principal
    if (conversation !== null) {
      await entered(ctx, conversation)
      const all = await conversations.items(readers(ctx), conversation.token)
      if (all === null) throw tooLarge()
      const output = itemsSinceCompaction(all, isOwn, (id) => ids.read(id) !== null).filter(isOpen)
      return messagesOf({ messages: [], output }, orgId)
    }
    if (previous === null) return NOTHING
    state.chain ??= await chainOf(ctx, previous)
    return joined(state.chain, orgId)
  }

  async function chainOf(ctx: RequestContext, { token, id }: Named): Promise<Turn[]> {
    const chain = await found(() => store.chain(readers(ctx), token))
    if (chain === null) throw unknownResponse(id)
    return chain
  }

  async function joined(chain: readonly Turn[], orgId: number | null): Promise<ReadTurn> {
    const messages: Message[] = []
    let bytes = 0
    for (const turn of sinceCompaction(chain, isOwn)) {
      const reading = messagesOf(turn, orgId)
      const read = reading instanceof Promise ? await reading : reading
      for (const message of read.messages) messages.push({ ...message, parts: [...message.parts] })
      bytes += read.bytes
    }
    return { messages, bytes }
  }

  async function entered(ctx: ChatContext, { token, id }: Named): Promise<void> {
    if (!(await conversations.settled(readers(ctx), token))) throw noConversation(id)
    if (ctx.operation === 'chat') await conversations.begin(token, clock.now() + BUSY_MS)
  }

  async function found<T>(ask: () => Promise<T | null>): Promise<T | null> {
    for (const wait of WAITS_MS) {
      const value = await ask()
      if (value !== null) return value
      await clock.sleep(wait)
    }
    return ask()
  }

  return {
    whole,
    found,
    upTo: async (ctx, response) => joined(await chainOf(ctx, response), ctx.principal.orgId),
  }
}
