// `params` of a target: members of the request that it gets over the caller's, in the spelling of its upstream.
import type { Json } from '../../core/types/canonical.ts'
import type { Candidate, EncodedCall } from '../../core/types/context.ts'
import type { CompiledTarget } from './compiled-model.ts'

/** The target and how it is asked are the pipeline's. */
const RESERVED = new Set(['model', 'stream'])

export function paramsOf(candidate: Candidate | null): CompiledTarget['params'] {
  return (candidate?.target as CompiledTarget | undefined)?.params ?? null
}

export function setParams({ candidate, body }: EncodedCall): void {
  for (const [name, value] of Object.entries(paramsOf(candidate) ?? {})) if (!RESERVED.has(name)) body.set(name, value as Json)
}
