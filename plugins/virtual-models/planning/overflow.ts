// When a conversation is too long for one target of a virtual model, tries targets that are known to accept more. Without such a target
// the caller gets the vendor's answer.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Json } from '../../../core/types/request/canonical.ts'
import type { Candidate, EncodedCall, RequestContext, Slot, Target } from '../../../core/types/request/context.ts'
import type { Result } from '../../../core/types/request/result.ts'
import type { CompiledTarget } from './compiled-model.ts'
import type { Knowledge } from './model-facts.ts'

const CODE = /context_length_exceeded|context_window_exceeded/i
/** Vendors' own sentences at the start of the message, because the rest may quote the caller. */
const SENTENCE =
  /^.{0,80}(?:maximum context length|context (?:length|window)|prompt is too long|input is too long|too many (?:input )?tokens|input token count)/i

export type Overflow = (ctx: RequestContext, candidate: Candidate, next: () => Promise<Result>) => Promise<Result>

/** @param tooSmall the largest context window that was too small for the request. */
export function overflow(knowledge: Knowledge, tooSmall: Slot<number>): Overflow {
  const windowOf = ({ provider, model }: Target, { principal }: RequestContext): number | null =>
    knowledge.facts(principal.orgId, provider, model).contextWindow ?? null
  return async (ctx, candidate, next) => {
    const limit = tooSmall.get(ctx)
    const window = windowOf(candidate.target, ctx)
    if (limit !== undefined && (window === null || window <= limit)) throw smaller()
    try {
      return await next()
    } catch (thrown) {
      if (window === null || !GatewayError.is(thrown) || !isOverflow(thrown)) throw thrown
      tooSmall.set(ctx, window)
      const roomier = ctx.plan?.targets.some((target) => (windowOf(target, ctx) ?? 0) > window)
      throw roomier ? onward(thrown) : thrown
    }
  }
}

export function isOverflow({ upstream, message }: GatewayError): boolean {
  if (upstream === null || (upstream.status !== 400 && upstream.status !== 413)) return false
  return CODE.test(upstream.vendorCode ?? '') || SENTENCE.test(message)
}

function onward(error: GatewayError): GatewayError {
  const { upstream } = error
  return error.with({ cause: error, upstream: { ...(upstream as NonNullable<typeof upstream>), walk: 'next_target' } })
}

function smaller(): GatewayError {
  return new GatewayError('This target holds no more than the one the conversation was too long for.', {
    status: 400,
    type: 'invalid_request_error',
    skip: 'capability',
  })
}

/** The pipeline sets these members. */
const RESERVED = new Set(['model', 'stream'])

export function paramsOf(candidate: Candidate | null): CompiledTarget['params'] {
  return (candidate?.target as CompiledTarget | undefined)?.params ?? null
}

export function setParams({ candidate, body }: EncodedCall): void {
  for (const [name, value] of Object.entries(paramsOf(candidate) ?? {})) if (!RESERVED.has(name)) body.set(name, value as Json)
}
