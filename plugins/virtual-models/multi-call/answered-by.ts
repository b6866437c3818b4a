// Sets the headers that name the upstream of the answer, as for a single call.
import type { RequestContext } from '../../../core/types/request/context.ts'
import type { CompiledTarget } from '../planning/compiled-model.ts'

export function answeredBy<T>({ responseHeaders }: RequestContext, { provider, model }: CompiledTarget, result: T): T {
  const safe = (text: string) => text.replace(/[^\x20-\x7e]/g, '?')
  responseHeaders.set('x-gateway-provider', safe(provider))
  responseHeaders.set('x-gateway-model', safe(model))
  return result
}
