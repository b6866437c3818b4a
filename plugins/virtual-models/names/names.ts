// Resolves a virtual model's name: rows of the organization, then names of GATEWAY_ROUTES, then `auto`. The name must match exactly.
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { Plan, RequestContext } from '../../../core/types/request/context.ts'
import { AUTO, type CompiledModel } from '../planning/compiled-model.ts'

export type Find = (orgId: number | null, name: string) => CompiledModel | null

/** @throws GatewayError 400 when this route does not accept the name. */
export function refuseMisplaced({ models }: RequestContext, { name, modality }: CompiledModel): void {
  if (models === modality) return
  if (models === 'text')
    throw GatewayError.invalid('model', `\`${name}\` is a virtual model for images: it is called on /v1/images/*.`)
  throw GatewayError.invalid('model', `A concrete \`provider/model\` id is required here; \`${name}\` is a virtual model.`)
}

/** VIRTUAL_MODELS_ONLY. Routes without a model are not affected. @throws GatewayError 400. */
export function refuseConcrete(ctx: RequestContext, find: Find): void {
  if (ctx.models === 'none' || find(ctx.principal.orgId, ctx.requestedModel) !== null) return
  const name = ctx.requestedModel.slice(0, 256)
  throw GatewayError.invalid(
    'model',
    `This gateway serves virtual models only, and \`${name}\` is none. GET /v1/models lists them.`,
  )
}

/** @throws GatewayError 400 for a virtual model that is disabled or has no available target. */
export function planOf({ id, name, enabled, ordering, targets, unavailable }: CompiledModel): Plan {
  if (!enabled) throw GatewayError.invalid('model', `The virtual model \`${name}\` is disabled.`)
  if (targets.length === 0) {
    if (unavailable !== undefined) throw GatewayError.invalid('model', unavailable)
    throw id === AUTO
      ? GatewayError.invalid('model', '`auto` has no eligible model: add a connection whose models are known.')
      : GatewayError.invalid('model', `The virtual model \`${name}\` has no enabled target.`)
  }
  return { targets: [...targets], strategy: ordering, virtualModel: name }
}

/** Plans a bare model id that one provider offers. @throws GatewayError 400 naming the providers when several offer it. */
export function planOfBareId(model: string, providers: readonly string[]): Plan | undefined {
  const [provider, ...others] = providers
  if (provider === undefined) return undefined
  if (others.length === 0)
    return { targets: [{ provider, model, connectionId: null, weight: 1 }], strategy: 'direct', virtualModel: null }
  const named = providers.map((one) => `\`${one}/${model}\``).join(', ')
  throw GatewayError.invalid('model', `\`${model}\` is offered by several providers. Say which: ${named}.`)
}

// Virtual names for model lists: only callable ones, the first of each name.
type Entry = ReturnType<Parameters<Services['modelCatalogue']['virtual']>[0]['list']>[number]

export function listEntries(compiledModels: readonly CompiledModel[]): Entry[] {
  const named = new Map<string, CompiledModel>()
  for (const compiled of compiledModels) if (!named.has(compiled.name)) named.set(compiled.name, compiled)
  return [...named.values()]
    .filter(({ enabled, targets }) => enabled && targets.length > 0)
    .map(({ name, createdAt, modality, targets }) => ({ id: name, createdAt, modality, targets }))
}
