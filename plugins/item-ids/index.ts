// Handles ids of items that a responses upstream created. The upstream may require them, or no longer know them. After such an error the
// request is sent once more to the same account, with the opposite choice.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalRequest, Frozen, Json, JsonObject } from '../../core/types/request/canonical.ts'
import type { Candidate, RequestContext } from '../../core/types/request/context.ts'

export const itemIds = definePlugin({
  name: 'item-ids',
  setup(gateway) {
    const retry = gateway.slot<{ candidate: Candidate; amend: Amend }>()

    // Callers of other dialects have no items, so no item ids are sent for them.
    const when = (ctx: RequestContext): boolean => ctx.dialect === 'responses'

    gateway.hook(
      'attempt',
      (ctx, candidate, next) =>
        next().catch((error: unknown) => {
          const amend = amendmentFor(error)
          if (amend === null || retry.get(ctx)?.candidate === candidate) throw error
          retry.set(ctx, { candidate, amend })
          return next()
        }),
      { when },
    )

    gateway.hook(
      'encoded',
      (ctx, call) => {
        const wanted = retry.get(ctx)
        if (wanted?.candidate !== call.candidate || call.codec.upstream !== 'responses') return
        const input = call.body.get('input')
        if (Array.isArray(input)) call.body.set('input', wanted.amend(input, call.request))
      },
      { order: 'post', operation: 'chat', when },
    )
  },
})

type Amend = (input: readonly Json[], request: Frozen<CanonicalRequest>) => Json[]

function amendmentFor(error: unknown): Amend | null {
  if (!GatewayError.is(error)) return null
  const status = error.upstream?.status
  if (status !== 400 && status !== 404) return null
  if (/item_id did not match/i.test(error.message)) return withOtherIds
  return /\bitem (?:with id )?['"`]?\w+_\w+['"`]? (?:was )?not found/i.test(error.message) ? withoutIds : null
}

/** Reasoning is sealed under its id: a missing id is restored where the caller sent it, and a wrong one removed. */
function withOtherIds(input: readonly Json[], request: Frozen<CanonicalRequest>): Json[] {
  const known = new Map<string, string>()
  for (const { parts } of request.messages)
    for (const part of parts) {
      const secret = part.t === 'reasoning' ? (part.signature ?? part.encrypted) : undefined
      if (part.t === 'reasoning' && part.itemId !== undefined && secret !== undefined) known.set(secret.value, part.itemId)
    }
  return input.map((item) => {
    if (!isObject(item) || item.type !== 'reasoning') return item
    const { id, ...rest } = item
    const told = known.get(String(item.encrypted_content))
    return id === undefined && told !== undefined ? { ...rest, id: told } : rest
  })
}

/** Reasoning without its secret has only its id, so it is removed too. */
function withoutIds(input: readonly Json[]): Json[] {
  return input.flatMap((item) => {
    if (!isObject(item) || !OWN_ITEMS.has(item.type)) return [item]
    const { id: _id, ...rest } = item
    return item.type === 'reasoning' && !item.encrypted_content ? [] : [rest]
  })
}

const OWN_ITEMS: ReadonlySet<Json | undefined> = new Set(['reasoning', 'message', 'function_call', 'custom_tool_call'])

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export default itemIds
