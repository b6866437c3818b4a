// Tells whether the vendor of a request has an operation of its own, or the gateway has to make it of chat calls.
import type { ConnectionService } from '../services.ts'
import { globMatch } from '../text/glob.ts'
import type { ServedOperation } from '../types/operations/operation.ts'
import type { MediaOperation } from '../types/operations/operations.ts'
import type { Provider } from '../types/ports/provider.ts'
import type { Dialect } from '../types/request/canonical.ts'
import type { RequestContext } from '../types/request/context.ts'

export function serves({ models }: Pick<ServedOperation, 'models'>, model: string): boolean {
  return models?.some((glob) => globMatch(glob, model)) ?? true
}

/** Statuses of an upstream that has no such route. */
const NOT_THERE: ReadonlySet<number | undefined> = new Set([404, 405, 501])

/** Returns true when the last upstream call failed because the upstream has no route for the operation. */
export function routeIsMissing({ attempts }: RequestContext): boolean {
  return NOT_THERE.has(attempts.at(-1)?.status)
}

/** The first target decides. An upstream outside the registry counts when its connection speaks `dialect`. */
export function vendorServes(
  operation: MediaOperation,
  dialect: Dialect,
  providers: readonly Provider[],
  connections: ConnectionService,
): (ctx: RequestContext) => boolean {
  const byName = new Map(providers.flatMap((provider) => [provider.id, ...provider.aliases].map((name) => [name, provider])))
  return (ctx) => {
    const target = ctx.plan?.targets[0]
    if (target === undefined) return false
    const provider = byName.get(target.provider)
    const [connection] = connections.list(target.provider, target.model, ctx)
    if (provider === undefined) return connection?.wireFormat === dialect
    const served = provider.operations?.[operation]
    // A connection with another wire format is not the vendor's own address.
    return served !== undefined && serves(served, target.model) && (connection?.wireFormat ?? dialect) === dialect
  }
}
