// The upstream dialects that a request may use towards a model, as far as they change the output limit: the caller's limit may be unknown
// to another vendor, or smaller than its minimum.
import { capsOf } from '../../core/models/model-caps.ts'
import type { ConnectionService } from '../../core/services.ts'
import type { CanonicalRequest, Dialect, Frozen } from '../../core/types/canonical.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Provider } from '../../core/types/provider.ts'

export interface Upstream {
  readonly provider: string
  readonly model: string
}

export type DialectsOf = (ctx: RequestContext, request: Frozen<CanonicalRequest>, upstream: Upstream) => readonly Dialect[]

export function upstreamDialects(
  connections: () => Pick<ConnectionService, 'list'> | undefined,
  providerOf: (id: string) => Pick<Provider, 'id' | 'dialectFor' | 'caps'>,
): DialectsOf {
  return (ctx, request, { provider, model }) => {
    const found = providerOf(provider)
    const list = connections()?.list(provider, model, ctx) ?? []
    return list.map(
      (connection) => connection.wireFormat ?? found.dialectFor(() => request, request.source, capsOf(found, connection, model)),
    )
  }
}
