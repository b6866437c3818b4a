// Tells whether the vendor of a request compacts conversations itself.
import type { ConnectionService } from '../../core/services.ts'
import type { RequestContext } from '../../core/types/context.ts'
import type { Provider } from '../../core/types/provider.ts'

/** The first target decides. An own upstream counts when its connection speaks the responses dialect. */
export function vendorCompacts(providers: readonly Provider[], connections: ConnectionService): (ctx: RequestContext) => boolean {
  const byName = new Map(providers.flatMap((provider) => [provider.id, ...provider.aliases].map((name) => [name, provider])))
  return (ctx) => {
    const target = ctx.plan?.targets[0]
    if (target === undefined) return false
    const provider = byName.get(target.provider)
    const [connection] = connections.list(target.provider, target.model, ctx)
    if (connection?.wireFormat != null && connection.wireFormat !== 'responses') return false
    return provider === undefined ? connection?.wireFormat === 'responses' : provider.operations?.compact !== undefined
  }
}
