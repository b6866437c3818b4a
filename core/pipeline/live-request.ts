// A running request as checkpoints, drain and health see it.
import type { LiveRequest } from '../types/context.ts'
import type { RequestState } from './context.ts'

export function liveRequest(ctx: RequestState): LiveRequest {
  const { facts, steps, calls, lastReadAt } = ctx
  return {
    ...{ ctx, contentBytes: facts?.contentBytes ?? 0, usage: facts?.usage ?? null, steps },
    calls: calls === null ? NO_CALLS : [...calls].map(liveRequest),
    lastReadAt,
  }
}

const NO_CALLS: readonly LiveRequest[] = []
