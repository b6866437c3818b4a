// Targets in the form that the API takes, with the order or the weights that a recommendation wants.
import type { Services } from '../../../core/types/plugin/plugin.ts'
import type { ApplyAction, TargetParams } from '../service.ts'

type VirtualModel = ReturnType<Services['virtualModels']['list']>[number]
export type Target = VirtualModel['targets'][number]

export const nameOf = ({ provider, model }: { provider: string; model: string }): string => `${provider}/${model}`

export function paramsOf({ provider, model, weight, connectionId, enabled, instruction, params }: Target): TargetParams {
  return { target: `${provider}/${model}`, weight, connection_id: connectionId, enabled, instruction, params }
}

/** Strategies whose order or weights decide where a request goes. */
export function isSteered({ strategy }: VirtualModel): boolean {
  return strategy === 'failover' || strategy === 'weighted' || strategy === 'load_balance'
}

/** Returns null for a virtual model that the file owns: the hint has the change. */
export function update(model: VirtualModel, targets: readonly Target[]): ApplyAction | null {
  if (model.managedBy === 'config') return null
  return { type: 'update_virtual_model', params: { id: model.id, name: model.name, targets: targets.map(paramsOf) } }
}

/** Says what to do by hand. */
export function hint(model: VirtualModel, targets: readonly Target[]): string {
  if (model.managedBy !== 'config') return `Change the targets of \`${model.name}\`, or apply this recommendation.`
  const listed = targets.map((target) => {
    const { provider, model, weight, enabled, connectionId, instruction, params } = target
    const rest = {
      ...(weight !== 1 && { weight }),
      ...(!enabled && { enabled }),
      ...(connectionId !== null && { connectionId }),
      ...(instruction !== null && { instruction }),
      ...(params !== null && { params }),
    }
    const name = `${provider}/${model}`
    return Object.keys(rest).length === 0 ? JSON.stringify(name) : JSON.stringify({ target: name, ...rest })
  })
  return `In gateway.config.ts: virtualModels: { ${JSON.stringify(model.configKey ?? model.name)}: { targets: [${listed.join(', ')}] } }`
}
