// Resolves requests that name a provider without a model, and searches that name neither. The provider's default model serves them.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { globMatch } from '../../core/text/glob.ts'
import type { ServedOperation } from '../../core/types/operations/operation.ts'
import type { MediaOperation } from '../../core/types/operations/operations.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Plan, RequestContext, Target } from '../../core/types/request/context.ts'

/** The model of a search that names no provider. */
const ANY_SEARCH = 'search'

export const defaultModels = definePlugin({
  name: 'default-models',
  requires: ['accounts', 'configuration'],
  setup(gateway) {
    const accounts = gateway.use('accounts')
    const { providers } = gateway.use('configuration')

    const connected = (ctx: RequestContext): readonly Connection[] =>
      accounts.list().flatMap(({ connection, orgId, enabled }) => (enabled && orgId === ctx.principal.orgId ? [connection] : []))

    const servedBy = (id: string, operation: MediaOperation): Pick<ServedOperation, 'defaultModel'> | undefined =>
      providers.find((provider) => provider.id === id || provider.aliases.includes(id))?.operations?.[operation]

    /** Returns one target per connected search provider that the key may use, by priority. */
    function searchPlan(ctx: RequestContext): Plan {
      const { allowedModels } = ctx.principal
      const targets = new Map<string, Target>()
      for (const { provider, defaultModel } of connected(ctx)) {
        const served = servedBy(provider, 'search')
        const model = defaultModel ?? served?.defaultModel
        if (served === undefined || model === undefined) continue
        const allowed = allowedModels?.some((glob) => globMatch(glob, `${provider}/${model}`) || glob === ANY_SEARCH) ?? true
        if (allowed) targets.set(provider, { provider, model, connectionId: null, weight: 1 })
      }
      if (targets.size > 0) return { targets: [...targets.values()], strategy: 'failover', virtualModel: null }
      const known = providers.filter(({ operations }) => operations?.search !== undefined).map(({ id }) => `\`${id}\``)
      throw GatewayError.invalid('provider', `No search provider is connected. Add a connection to one of ${known.join(', ')}.`)
    }

    gateway.hook(
      'resolve',
      (ctx) => {
        const name = ctx.requestedModel
        if (name.includes('/')) return undefined
        if (ctx.operation === 'search' && name === ANY_SEARCH) return searchPlan(ctx)
        const provider = providers.find(({ id, aliases }) => id === name || aliases.includes(name))
        const served = servedBy(name, ctx.operation as MediaOperation)
        const own = connected(ctx).filter((connection) => connection.provider === (provider?.id ?? name))
        const model = own.find(({ defaultModel }) => defaultModel !== null)?.defaultModel ?? served?.defaultModel
        if (own.length === 0 || model === undefined) return undefined
        const target = { provider: provider?.id ?? name, model, connectionId: null, weight: 1 }
        return { targets: [target], strategy: 'direct', virtualModel: null }
      },
      { order: 'post', operation: ['search', 'images', 'speech', 'transcription', 'ocr', 'moderations'] },
    )
  },
})

export default defaultModels
