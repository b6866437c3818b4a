// Captures answers while bodies are logged: whole ones as they are sent, streamed ones assembled. When bodies are not logged, none of
// this runs.
import { rootOf } from '../../../core/records/root-request.ts'
import { encodeUtf8 } from '../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../core/types/error.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Reply, RequestContext } from '../../../core/types/request/context.ts'
import { type Assembly, assembly } from './assembly.ts'

export type Answer =
  | { readonly kind: 'whole'; readonly body: Uint8Array; readonly type: string }
  | { readonly kind: 'stream'; readonly assembly: Assembly }

/** Returns a function that returns the captured answer of a request. */
export function captureAnswers(
  gateway: PluginGateway,
  logged: (ctx: RequestContext) => boolean,
  maxBytes: number,
): (ctx: RequestContext) => Answer | null {
  const slot = gateway.slot<Answer>()
  // Only requests with a body: model lists contain nothing private.
  const when = (ctx: RequestContext): boolean => {
    if (!logged(ctx)) return false
    const root = rootOf(ctx)
    return root.ingress !== null && root.bodyBytes > 0
  }
  gateway.hook(
    'access',
    (ctx) => {
      ctx.tap((reply) => slot.set(ctx, { kind: 'whole', body: reply.body, type: typeOf(reply) }))
    },
    { when, order: 'post', onError: 'open' },
  )
  gateway.hook(
    'stream',
    (ctx) => {
      const made = assembly(maxBytes)
      // In a panel, the judge's answer is the answer of the parent request.
      slot.set(rootOf(ctx), { kind: 'stream', assembly: made })
      return made.transform
    },
    { when, order: 'post', onError: 'open' },
  )
  return (ctx) => slot.get(ctx) ?? null
}

/** Returns the error text for the log. An upstream's message may quote the prompt, so it is stored like an answer. */
export function failureAnswer(error: GatewayErrorShape | undefined): Answer | null {
  if (error === undefined) return null
  const { message, code, upstream } = error
  const told = { error: { message, code, upstream_status: upstream?.status ?? null } }
  return { kind: 'whole', body: encodeUtf8(JSON.stringify(told)), type: 'application/json' }
}

function typeOf({ headers }: Reply): string {
  for (let i = 0; i < headers.length; i += 2) if (headers[i]?.toLowerCase() === 'content-type') return headers[i + 1] as string
  return ''
}
