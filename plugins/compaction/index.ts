// Makes conversations of the responses dialect shorter: POST /v1/responses/compact without a vendor that has it, and `compaction_trigger`
// items. The compaction items that it writes are read back for every upstream.
import { z } from 'zod'
import { asStream } from '../../core/calls/derived-answer.ts'
import { routeIsMissing, vendorServes } from '../../core/calls/vendor-serves.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { randomId } from '../../core/ids/ids.ts'
import { noUsage } from '../../core/models/token-estimate.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { searchable } from '../../core/text/bytes.ts'
import type { CompactAnswer, CompactRequest } from '../../core/types/operations/operations.ts'
import type { Frozen, JsonObject } from '../../core/types/request/canonical.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { checkItems, refuseForeign } from './checked-items.ts'
import { digestOf } from './digest.ts'
import { entriesOf, entryOf, isForeign, isKept } from './entries.ts'
import { KEPT_TURNS, split } from './heuristic.ts'
import { itemsWithDigests, withDigests } from './read-back.ts'
import { opened, sealedIn, sealedItem } from './sealed.ts'
import { summaryOf } from './summary.ts'

/** So many of the last steps keep their text when the answer to a trigger holds them. */
const RECENT_STEPS = 3 * KEPT_TURNS

export const compaction = definePlugin({
  name: 'compaction',
  requires: ['configuration', 'connections'],
  settings: {
    'compact.model': z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe('The model that writes summaries for `mode: model`. null: the model of the request.')
      .meta({ scope: 'organization' }),
  },
  setup(gateway) {
    const { clock, settings, vault } = gateway
    const native = vendorServes('compact', 'responses', gateway.use('configuration').providers, gateway.use('connections'))
    const seal = (ctx: RequestContext, digest: string) => sealedItem(vault, digest, ctx.principal.orgId)
    const open = (ctx: RequestContext) => (sealed: string) => opened(vault, sealed, ctx.principal.orgId, 'input')

    gateway.provide('compactionItems', {
      isOwn: (item) => sealedIn(item) !== null,
      open: (messages, orgId) => withDigests(messages, (sealed) => opened(vault, sealed, orgId, 'input')),
    })

    const heuristic = async (ctx: RequestContext<'compact'>): Promise<Result> => {
      refuseStored(ctx.request)
      checkItems(ctx.request.input)
      const { before, digested, after } = split(ctx.request.input)
      return answered(ctx, [...before, await seal(ctx, digestOf(digested)), ...after], noUsage())
    }
    const summarized = async (ctx: RequestContext<'compact'>): Promise<Result> => {
      refuseStored(ctx.request)
      checkItems(ctx.request.input)
      const { input, instructions } = ctx.request
      const entries = input.flatMap((item) => entryOf(item) ?? [])
      const model = settings.get('compact.model', ctx.principal.orgId) ?? ctx.requestedModel
      const { text, usage } = await summaryOf(gateway, ctx, model, { instructions, entries })
      return answered(ctx, [...split(input.filter(isKept)).before, await seal(ctx, text)], usage)
    }
    const answered = (ctx: RequestContext, output: CompactAnswer['output'], usage: CompactAnswer['usage']): Result => {
      const created = Math.floor(clock.now() / 1000)
      const answer: CompactAnswer = { id: randomId('resp_'), created, model: ctx.requestedModel, output, usage }
      return { kind: 'answer', reply: { usage, answer: () => answer } }
    }

    gateway.hook(
      'request',
      async (ctx) => {
        const input = await itemsWithDigests(ctx.request.input, open(ctx))
        if (input !== null) ctx.edit().input = input
      },
      { order: 'pre', operation: 'compact' },
    )
    gateway.hook(
      'request',
      async (ctx) => {
        const messages = await withDigests(ctx.request.messages, open(ctx))
        if (messages !== null) ctx.edit().messages = messages
      },
      { order: 'pre', operation: 'chat', when: (ctx) => mentions(ctx, '"gw1.') },
    )
    gateway.hook(
      'answer',
      async (ctx) => {
        const { mode = native(ctx) ? 'native' : 'heuristic' } = ctx.request
        return mode === 'heuristic' ? heuristic(ctx) : undefined
      },
      { order: 'pre', operation: 'compact', onError: 'closed' },
    )
    gateway.hook(
      'call',
      (ctx, next) => {
        if (ctx.request.mode === 'model') return summarized(ctx)
        if (ctx.request.mode === 'native') return next()
        return next().catch((error: unknown) => {
          if (routeIsMissing(ctx)) return heuristic(ctx)
          throw error
        })
      },
      { operation: 'compact' },
    )
    gateway.hook(
      'answer',
      async (ctx) => {
        if (!holds(ctx, isTrigger) || native(ctx)) return undefined
        if (holds(ctx, isForeign)) refuseForeign()
        // A client that stores nothing keeps the messages of its user itself.
        const { system, messages } = ctx.request
        const entries = entriesOf([...system, ...messages], ctx.member('store') !== false)
        const item = await seal(ctx, digestOf(entries, RECENT_STEPS))
        const answer: Result = {
          kind: 'full',
          response: {
            id: randomId('resp_'),
            created: Math.floor(clock.now() / 1000),
            model: ctx.requestedModel,
            choices: [
              { index: 0, parts: [{ t: 'opaque', dialect: 'responses', raw: item }], finish: 'stop', nativeFinish: 'completed' },
            ],
            usage: noUsage(),
            ext: {},
          },
        }
        return ctx.stream ? asStream(answer) : answer
      },
      { order: 'pre', operation: 'chat', onError: 'closed', when: (ctx) => mentions(ctx, '"compaction_trigger"') },
    )
  },
})

/** Searches the bytes: most requests have no such item and are not decoded for it. */
function mentions({ dialect, rawBody }: RequestContext, text: string): boolean {
  return dialect === 'responses' && rawBody !== null && searchable(rawBody, 0, rawBody.length).includes(text)
}

const isTrigger = ({ type }: Frozen<JsonObject>): boolean => type === 'compaction_trigger'

function holds({ request }: RequestContext<'chat'>, is: (item: Frozen<JsonObject>) => boolean): boolean {
  return request.messages.some(({ parts }) => parts.some((part) => part.t === 'opaque' && is(part.raw as Frozen<JsonObject>)))
}

/** @throws GatewayError 400: only the vendor knows what it stored. */
function refuseStored({ extra }: Frozen<CompactRequest>): void {
  if (extra.previous_response_id === undefined) return
  throw GatewayError.invalid(
    'previous_response_id',
    '`previous_response_id` names a response that is not stored here. Send the items of the conversation in `input`.',
    'previous_response_not_found',
  )
}

export default compaction
