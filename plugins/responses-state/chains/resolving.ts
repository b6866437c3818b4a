// Finds the stored turns that a request continues or refers to. The account that stored the conversation itself gets its own ids; any other
// upstream gets the whole conversation, the oldest turn first.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { searchable } from '../../../core/text/bytes.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { Candidate, RequestContext } from '../../../core/types/request/context.ts'
import { MARK } from '../ids.ts'
import type { Parts } from '../parts.ts'
import { noConversation, unknownItem, unknownResponse } from '../refusals.ts'
import type { Turn } from '../turn.ts'
import { hasCompaction } from './compacted.ts'
import { type Continued, histories } from './histories.ts'
import { type ChatContext, placeMessages, type ReadTurn, referenceIn } from './history.ts'
import { withUpstreamIds } from './upstream-ids.ts'

/** The stored turns that a request continues. */
export interface Resolved extends Continued {
  /** Number of messages that the gateway put in front of the request's own. */
  after: number
  /** True: the request holds the whole conversation, for every upstream. */
  isWhole: boolean
  /** The turns that references name, and the previous one, by token. */
  readonly turns: ReadonlyMap<string, Turn>
  /** Set while an account that stored the conversation is among the candidates: the request keeps its ids until another one is tried. */
  owner: { readonly connection: string; readonly response: string | null } | null
}

const CONVERSATIONS = ['chat', 'count_tokens'] as const

export interface Resolving {
  of(ctx: RequestContext): Resolved | undefined
  /** Returns the stored conversation up to a response. @throws GatewayError 400 when there is none for this caller */
  upTo(ctx: RequestContext, id: string): Promise<ReadTurn>
}

export function addResolving(gateway: PluginGateway, parts: Parts): Resolving {
  const { ids, store, readers } = parts
  const resolved = gateway.slot<Resolved>()
  const namesOurs = gateway.slot<boolean>()
  const connections = gateway.optional('connections')
  const { whole, upTo, found } = histories(gateway, parts)

  gateway.hook(
    'request',
    async (ctx) => {
      const { request } = ctx
      const references = request.messages.flatMap(({ parts }) => parts.flatMap((part) => referenceIn(part, ids) ?? []))
      const id = request.state?.previousResponseId
      const previous = id !== undefined && ids.isOurs(id) ? { token: tokenOf(id), id } : null
      // A count never reaches an upstream that could know another id.
      if (previous === null && id !== undefined && ctx.operation === 'count_tokens') throw unknownResponse(id)
      const conversation = conversationOf(ctx)
      if ((ctx.member('conversation') ?? null) !== null && id !== undefined)
        throw GatewayError.invalid(
          'previous_response_id',
          'Send `conversation` or `previous_response_id`, not both.',
          'mutually_exclusive_parameters',
        )
      if (previous === null && references.length === 0 && conversation === null) return
      const tokens = new Set(references.map(itemToken))
      if (previous !== null) tokens.add(previous.token)
      const turns = await found(async () => {
        const all = await store.turns(readers(ctx), [...tokens])
        return all.size === tokens.size ? all : null
      })
      if (turns === null) throw await missing(ctx, previous, references)
      if (previous !== null && turns.get(previous.token)?.conversation !== undefined)
        throw GatewayError.invalid(
          'previous_response_id',
          'This response belongs to a conversation: send `conversation` instead.',
        )
      const named = new Map(references.map((one) => [one, itemOf(turns, one)]))
      const state: Resolved = {
        previous,
        conversation,
        after: 0,
        begins: hasCompaction(request.messages, named.values()),
        isWhole: false,
        items: named,
        turns,
        owner: null,
        chain: null,
      }
      resolved.set(ctx, state)
      state.owner = ownerAmong(ctx, state)
      if (state.owner === null) {
        const { messages, before, bytes } = await whole(ctx, state, request)
        state.isWhole = true
        state.after = before
        ctx.addedBytes += bytes
        const edited = ctx.edit()
        placeMessages(edited, messages)
        if (edited.state !== undefined && previous !== null) delete edited.state.previousResponseId
        if (edited.state !== undefined && conversation !== null) delete edited.state.conversation
      }
    },
    { order: 'pre', operation: CONVERSATIONS, when: (ctx) => isResponses(ctx) && (isNaming(ctx) || isContinued(ctx)) },
  )

  gateway.hook(
    'attempt',
    (ctx, candidate, next) =>
      next().catch((error: unknown) => {
        const state = resolved.get(ctx)
        if (state?.owner?.connection !== candidate.connection.id || !isForgotten(error)) throw error
        // The upstream no longer knows what it stored.
        state.owner = null
        return next()
      }),
    { order: 'post', operation: CONVERSATIONS, when: (ctx) => (resolved.get(ctx)?.owner ?? null) !== null },
  )

  gateway.hook(
    'prepare',
    async (ctx, call) => {
      const id = call.request.state?.previousResponseId
      const state = resolved.get(ctx)
      const upstream = call.codec.upstream
      // No other upstream can know an id that is not ours: another target may.
      if (state === undefined && upstream !== 'responses' && id !== undefined && id !== '')
        throw unknownResponse(id).with({ skip: 'unsupported' })
      if (state === undefined || ownsIt(state, call.candidate, upstream)) return
      if (state.isWhole) return
      const { messages } = await whole(ctx, state, call.request)
      const edited = call.edit()
      placeMessages(edited, messages)
      if (edited.state !== undefined && state.previous !== null) delete edited.state.previousResponseId
    },
    { order: 'pre', operation: CONVERSATIONS, when: (ctx) => isResponses(ctx) && (isNaming(ctx) || isContinued(ctx)) },
  )

  gateway.hook(
    'encoded',
    async (ctx, call) => {
      if (call.codec.upstream !== 'responses') return
      const state = resolved.get(ctx)
      const isOwner = state !== undefined && ownsIt(state, call.candidate, 'responses')
      if (isOwner && state.owner?.response) call.body.set('previous_response_id', state.owner.response)
      await withUpstreamIds(call, parts, readers(ctx), state?.turns ?? new Map())
    },
    { order: 'post', operation: CONVERSATIONS, when: (ctx) => isResponses(ctx) && isNaming(ctx) },
  )

  /** One search for all hooks of the request. */
  function isNaming(ctx: RequestContext): boolean {
    let naming = namesOurs.get(ctx)
    if (naming === undefined) {
      naming = mentions(ctx)
      namesOurs.set(ctx, naming)
    }
    return naming
  }

  /** The account that stored everything that the request refers to, if it may answer. */
  function ownerAmong(ctx: ChatContext, { previous, turns, items: named }: Resolved): Resolved['owner'] {
    if ((ctx.member('conversation') ?? null) !== null) return null
    const natives = [...turns.values()].map(({ native }) => native ?? null)
    const [first = null] = natives
    if (first === null || natives.some((one) => one?.connection !== first.connection)) return null
    const isKnown = [...named.keys()].every((id) => turns.get(itemToken(id))?.native?.items[id] !== undefined)
    const service = connections()
    const isCandidate = ctx.plan?.targets.some(({ provider, model, connectionId }) =>
      service
        ?.list(provider, model, ctx)
        .some(({ id }) => id === first.connection && (connectionId === null || connectionId === id)),
    )
    if (!isKnown || isCandidate !== true) return null
    return { connection: first.connection, response: turns.get(previous?.token ?? '')?.native?.response ?? null }
  }

  /** @throws GatewayError 404 for a forged id, without a query. An id of another form is the upstream's. */
  function conversationOf(ctx: ChatContext): Resolved['conversation'] {
    const given = ctx.member('conversation')
    const id = typeof given === 'string' ? given : (given as { id?: unknown } | null | undefined)?.id
    if (typeof id !== 'string' || !ids.isOurs(id)) return null
    const place = ids.read(id)
    if (place?.kind !== 'conv') throw noConversation(id)
    return { token: place.token, id }
  }

  async function missing(ctx: ChatContext, previous: Resolved['previous'], references: readonly string[]): Promise<GatewayError> {
    const isThere = previous === null || (await store.turns(readers(ctx), [previous.token])).size > 0
    return isThere ? unknownItem(references[0] ?? '') : unknownResponse(previous.id)
  }

  /** @throws GatewayError 400 for a forged id, without a query. */
  function tokenOf(id: string): string {
    const place = ids.read(id)
    if (place?.kind !== 'resp') throw unknownResponse(id)
    return place.token
  }

  function itemToken(id: string): string {
    const place = ids.read(id)
    if (place === null) throw unknownItem(id)
    return place.token
  }

  function itemOf(turns: ReadonlyMap<string, Turn>, id: string): JsonObject {
    const item = turns.get(itemToken(id))?.output.find((one) => one.id === id)
    if (item === undefined) throw unknownItem(id)
    return item
  }

  return {
    of: (ctx) => resolved.get(ctx),
    upTo: async (ctx, id) => upTo(ctx, { token: tokenOf(id), id }),
  }
}

function ownsIt({ owner }: Resolved, { connection }: Candidate, upstream: string): boolean {
  return owner !== null && upstream === 'responses' && owner.connection === connection.id
}

function isForgotten(error: unknown): boolean {
  if (!GatewayError.is(error)) return false
  const { upstream, code, message } = error
  if (upstream === null || (upstream.status !== 400 && upstream.status !== 404)) return false
  const isNamed = [code, upstream.vendorCode].includes('previous_response_not_found')
  return isNamed || /previous.response|\bitem\b.*not found|not found.*\bitem\b/i.test(message.slice(0, 1000))
}

export function isResponses({ dialect, ingress }: RequestContext): boolean {
  return dialect === 'responses' && ingress !== null
}

function isContinued(ctx: RequestContext): boolean {
  return typeof ctx.member('previous_response_id') === 'string'
}

/** A byte search: requests without an id of ours are not decoded for it. */
export function mentions({ rawBody }: RequestContext): boolean {
  return rawBody !== null && searchable(rawBody, 0, rawBody.length).includes(MARK)
}
