// Stores the turns of responses callers for upstreams that store nothing: `previous_response_id` and `item_reference` work on every upstream,
// because the whole conversation is sent again. Off by default.
import { z } from 'zod'
import { noteStoredTurn } from '../../core/calls/stored-turn.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { encodeUtf8, searchable } from '../../core/text/bytes.ts'
import type { Message } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { CodecContext } from '../../core/types/dialect.ts'
import { type AnswerWriter, answerWriter } from './answer.ts'
import { type HeadWriter, headWriter } from './head.ts'
import { isInstructions, messagesOf, ownMessages, partsAt, type Reference, referenceIn, withNames } from './history.ts'
import { idsOf, MARK } from './ids.ts'
import { migrations } from './migrations.ts'
import { addRoutes } from './routes.ts'
import { type Scope, type SealedTurn, turnStore } from './store.ts'

const DAY_MS = 86_400_000
const PRUNE_MS = 3_600_000
/** A conversation may be as long as a body of the route. */
const MAX_CHAIN_BYTES = 20 * 1024 * 1024
/** A settlement may still be under way, here or on another replica. */
const WAITS_MS = [50, 150, 300]

/** Where the request's own part of the conversation begins. */
interface Own {
  /** Number of messages that the gateway put in front. */
  readonly after: number
  /** The token of the previous response and its id as sent; null: the conversation begins here. */
  readonly previous: { readonly token: string; readonly id: string } | null
}

interface Storing {
  readonly token: string
  readonly messages: readonly Message[]
  readonly parent: string | null
  readonly writer: AnswerWriter
  readonly head: HeadWriter
  /** The upstream's. */
  readonly model: string
  readonly family: string
  row: SealedTurn | null
}

const BEGINNING: Own = { after: 0, previous: null }

export const responsesState = definePlugin({
  name: 'responses-state',
  requires: ['storedAnswers'],
  config: z.strictObject({
    enabled: z.boolean().default(false),
    ttlDays: z.int().min(1).max(3650).default(30),
    /** Turns of one conversation. */
    maxTurns: z.int().min(1).max(10_000).default(2000),
    /** Bytes of one turn; a larger one is answered and not stored. */
    maxBytes: z
      .int()
      .min(1)
      .max(MAX_CHAIN_BYTES)
      .default(4 * 1024 * 1024),
    /** The callers that may continue a conversation: its own key, or every key of the organization. */
    share: z.enum(['key', 'org']).default('key'),
  }),
  variables: {
    RESPONSES_STATE: { option: 'enabled', about: 'Store the turns of /v1/responses for upstreams that store none.' },
    RESPONSES_STATE_TTL_DAYS: { option: 'ttlDays', about: 'How long a stored turn is kept, days.' },
    RESPONSES_STATE_MAX_BYTES: { option: 'maxBytes', about: 'Largest turn that is stored, bytes.' },
    RESPONSES_STATE_SHARE: {
      option: 'share',
      about: 'Callers that may continue a stored conversation: the same key, or every key of the organization.',
    },
  },
  migrations,
  setup(gateway, { enabled, ttlDays, maxTurns, maxBytes, share }) {
    const { clock, vault } = gateway
    const store = turnStore(gateway, { maxTurns, maxChainBytes: MAX_CHAIN_BYTES })
    // Also while it is off: what was stored expires.
    gateway.every('prune', PRUNE_MS, () => store.prune(clock.now()))
    if (!enabled) return
    const ids = idsOf(vault)
    const owns = gateway.slot<Own>()
    const storing = gateway.slot<Storing | null>()
    const readers = ({ principal: { orgId, keyId } }: Pick<RequestContext, 'principal'>): Scope => ({
      orgId,
      keyId: share === 'org' ? 'all' : keyId,
    })

    gateway.hook(
      'request',
      async (ctx) => {
        const { request } = ctx
        const id = request.state?.previousResponseId
        const isOurs = id !== undefined && ids.isOurs(id)
        const references = request.messages.flatMap(({ parts }) => parts.flatMap((part) => referenceIn(part, ids) ?? []))
        if (!isOurs && references.length === 0) return
        const previous = isOurs ? tokenOf(id) : null
        const items = await found(() => itemsOf(readers(ctx), references))
        const chain = previous === null ? [] : await found(() => store.chain(readers(ctx), previous))
        if (items === null) throw unknownItem(references[0]?.id ?? '')
        if (chain === null) throw unknownResponse(id ?? '')
        const before = chain.flatMap(messagesOf)
        owns.set(ctx, { after: before.length, previous: isOurs ? { token: previous as string, id } : null })
        ctx.addedBytes += encodeUtf8(JSON.stringify([before, [...items.values()]])).length
        const edited = ctx.edit()
        edited.messages = withNames([...before, ...withItems(ownMessages(request), items)])
        edited.system = edited.system.filter(isInstructions)
        if (isOurs) delete edited.state?.previousResponseId
      },
      { order: 'pre', operation: 'chat', when: (ctx) => isResponses(ctx) && mentions(ctx) },
    )

    gateway.hook(
      'prepare',
      (ctx, { codec }) => {
        const { request } = ctx
        const { previous, after } = owns.get(ctx) ?? BEGINNING
        // A vendor of this dialect stores its answers itself.
        const stores = codec.upstream !== 'responses' && request.state?.store !== false && !isLarge(ctx)
        // Read here, because policies may have changed texts since the request came in.
        const own = ownMessages(request).slice(after)
        storing.set(ctx, stores ? storingOf(own, previous?.token ?? null, codec) : null)
        if (stores || previous !== null) noteStoredTurn(codec, { store: stores, previous: previous?.id ?? null })
      },
      { order: 'post', operation: 'chat', when: isResponses },
    )

    const stored = (ctx: RequestContext): boolean => isResponses(ctx) && (storing.get(ctx) ?? null) !== null
    gateway.hook(
      'response',
      async (ctx, response) => {
        const kept = storing.get(ctx) as Storing
        const shown = kept.writer.whole(response)
        kept.head.whole(shown)
        kept.row = await seal(ctx, kept)
        return shown
      },
      { order: 'post', operation: 'chat', when: stored },
    )
    // After every stage that changes text: redacted texts are stored redacted.
    gateway.hook(
      'stream:batch',
      (ctx, events) => {
        const kept = storing.get(ctx) as Storing
        const shown = events.map((event) => kept.writer.event(event))
        for (const event of shown) kept.head.event(event)
        if (!events.some(({ e }) => e === 'end')) return shown
        // The settlement follows at once, and its unit needs the sealed row.
        return seal(ctx, kept).then((row) => {
          kept.row = row
          return shown
        })
      },
      { order: 'post', operation: 'chat', when: stored },
    )
    gateway.hook(
      'settle',
      (ctx, { status, aborted, error, cached }, unit) => {
        const row = storing.get(ctx)?.row ?? null
        if (row === null || status !== 200 || aborted || error !== undefined || cached !== false) return
        const { orgId, keyId } = ctx.principal
        const now = clock.now()
        unit.add(store.insert({ orgId, keyId }, row, now, now + ttlDays * DAY_MS))
      },
      { onError: 'open' },
    )

    addRoutes(gateway, { ids, store, readers })

    function storingOf(messages: readonly Message[], parent: string | null, { model, caps: { family } }: CodecContext): Storing {
      const token = ids.token()
      return { token, messages, parent, writer: answerWriter(ids, token), head: headWriter(), model, family, row: null }
    }

    async function seal(ctx: RequestContext<'chat'>, { token, parent, messages, writer, head, model, family }: Storing) {
      const { output } = writer
      const { request, requestedModel, principal } = ctx
      const top = head.head(output, { request, requestedModel, model, family, now: clock.now() })
      if (top === null) return null
      const { total, ...sealed } = await store.seal(principal.orgId, token, { messages, output }, top)
      if (total <= maxBytes) return { token, parent, ...sealed }
      gateway.log.warn('responses_state.too_large', { request: ctx.id, bytes: total })
      return null
    }

    function isLarge(ctx: RequestContext): boolean {
      if (ctx.bodyBytes <= maxBytes) return false
      ctx.warn('response_not_stored')
      return true
    }

    /** @throws GatewayError 400 for a forged id, without a query. */
    function tokenOf(id: string): string {
      const place = ids.read(id)
      if (place === null || place.kind !== 'resp') throw unknownResponse(id)
      return place.token
    }

    async function itemsOf(scope: Scope, references: readonly Reference[]): Promise<Map<string, Message['parts']> | null> {
      const tokens = new Set<string>()
      for (const { id, place } of references) {
        if (place === null) throw unknownItem(id)
        tokens.add(place.token)
      }
      const turns = await store.turns(scope, [...tokens])
      const items = new Map<string, Message['parts']>()
      for (const { id, place } of references) {
        const turn = turns.get(place?.token ?? '')
        if (turn === undefined || place === null) return null
        items.set(id, [...partsAt(turn, place)])
      }
      return items
    }

    function withItems(messages: readonly Message[], items: Map<string, Message['parts']>): Message[] {
      if (items.size === 0) return [...messages]
      return messages.map((message) => {
        if (!message.parts.some((part) => referenceIn(part, ids) !== null)) return message
        const parts = message.parts.flatMap((part) => {
          const reference = referenceIn(part, ids)
          return reference === null ? [part] : (items.get(reference.id) ?? [])
        })
        return { ...message, parts }
      })
    }

    /** Asks again for a short time before it returns null. */
    async function found<T>(ask: () => Promise<T | null>): Promise<T | null> {
      for (const wait of WAITS_MS) {
        const value = await ask()
        if (value !== null) return value
        await clock.sleep(wait)
      }
      return ask()
    }
  },
})

function isResponses({ dialect, ingress }: RequestContext): boolean {
  return dialect === 'responses' && ingress !== null
}

/** A byte search: requests without an id of ours are not decoded for it. */
function mentions({ rawBody }: RequestContext): boolean {
  return rawBody !== null && searchable(rawBody, 0, rawBody.length).includes(MARK)
}

/** Unknown, expired, deleted and foreign ids look alike. */
function unknownResponse(id: string): GatewayError {
  const message = `Previous response with id '${id}' not found.`
  return GatewayError.invalid('previous_response_id', message, 'previous_response_not_found')
}

function unknownItem(id: string): GatewayError {
  return GatewayError.invalid('input', `Item with id '${id}' not found.`, 'previous_response_not_found')
}

export default responsesState
