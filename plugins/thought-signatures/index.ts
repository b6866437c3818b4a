// GENCONTENT_SIGNATURE_CACHE: Gemini signs its tool calls and requires the signatures in the next request, but other dialects have no
// field for them. They are stored for an hour, for the same key, tenant, account and model only, and restored when the history lacks
// them. For a missing signature the encoder sends the skip sentinel.
import { z } from 'zod'
import { ExpiringMap } from '../../core/collections/expiring-map.ts'
import { bringsSecret } from '../../core/models/signature.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import type { CanonicalRequest, Frozen, Message, Part, Signature } from '../../core/types/request/canonical.ts'
import type { Candidate, RequestContext } from '../../core/types/request/context.ts'

const TTL_MS = 3_600_000
const MAX_ENTRIES = 5000
const SWEEP_MS = 60_000

export const thoughtSignatures = definePlugin({
  name: 'thought-signatures',
  config: z.strictObject({ enabled: z.boolean().default(true) }),
  variables: {
    GENCONTENT_SIGNATURE_CACHE: { option: 'enabled', about: 'Keep thought signatures of tool calls for an hour.' },
  },
  setup(gateway, { enabled }) {
    if (!enabled) return
    const signatures = new ExpiringMap<Signature>({ clock: gateway.clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES })
    /** Scope of the running attempt; unset when its answer has nothing to store. */
    const scopes = gateway.slot<string | undefined>()
    gateway.every('sweep', SWEEP_MS, async () => signatures.sweep())

    gateway.hook(
      'prepare',
      (ctx, call) => {
        // Callers of this dialect send signatures themselves.
        const wanted = call.codec.upstream === 'generate_content' && call.codec.caller !== 'generate_content'
        if (!wanted) return scopes.get(ctx) === undefined ? undefined : scopes.set(ctx, undefined)
        const scope = scopeOf(ctx, call.candidate)
        scopes.set(ctx, scope)
        const signed = withSignatures(call.request, (id) => signatures.get(keyOf(scope, id)))
        if (signed !== null) call.edit().messages = signed
      },
      { operation: 'chat' },
    )

    const keep = (scope: string | undefined, part: Frozen<Part>): void => {
      if (scope === undefined || part.t !== 'tool_call' || part.signature?.dialect !== 'generate_content') return
      signatures.set(keyOf(scope, part.id), part.signature)
    }
    const when = (ctx: RequestContext): boolean => scopes.get(ctx) !== undefined
    gateway.hook(
      'stream',
      (ctx) => {
        const scope = scopes.get(ctx)
        return { passive: true, event: (event) => event.e === 'part_stop' && keep(scope, event.full) }
      },
      { order: 'pre', when },
    )
    gateway.hook(
      'response',
      (ctx, { choices }) => {
        const scope = scopes.get(ctx)
        for (const { parts } of choices) for (const part of parts) keep(scope, part)
      },
      { order: 'pre', operation: 'chat', when },
    )
    return () => signatures.clear()
  },
})

function scopeOf({ principal }: RequestContext, { connection, target }: Candidate): string {
  return JSON.stringify([principal.orgId, principal.keyId, connection.id, target.model])
}

function keyOf(scope: string, callId: string): string {
  return `${scope} ${callId}`
}

/** Returns null when no call of the history gets one. */
function withSignatures(
  { messages }: Frozen<CanonicalRequest>,
  find: (callId: string) => Signature | undefined,
): Message[] | null {
  let found = false
  const signed = messages.map((message) => {
    if (message.role !== 'assistant' || bringsSignature(message.parts)) return message
    const parts = message.parts.map((part) => {
      const signature = part.t === 'tool_call' ? find(part.id) : undefined
      if (signature === undefined) return part
      found = true
      return { ...part, signature }
    })
    return { ...message, parts }
  })
  return found ? (signed as Message[]) : null
}

/**
 * Returns true when the caller's history has a signature, on a call or on a thought. A signature of another vendor means that the turn is
 * not Gemini's, even if its calls have known ids. A thought without a signature is no evidence: many clients send only its text.
 */
function bringsSignature(parts: readonly Frozen<Part>[]): boolean {
  return parts.some((part) => bringsSecret(part) || (part.t === 'tool_call' && part.signature !== undefined))
}

export default thoughtSignatures
