// The virtual model of the free pool: its targets are the shared connections of the gateway's own organization.

import type { Services } from '../../core/types/plugin/plugin.ts'
import type { Logger } from '../../core/types/ports/ports.ts'

/** Records of other organizations show this account instead of the connection's id. */
export const ACCOUNT = 'free-pool'

type Source = Parameters<Services['systemModels']['offer']>[0]
type SystemModel = ReturnType<Source['model']>

export interface PoolSources {
  readonly name: string
  readonly accounts: Pick<Services['accounts'], 'list'>
  readonly log: Pick<Logger, 'warn'>
  /** False: callers pay for calls, and their budgets count them. */
  readonly free: () => boolean
}

interface Models {
  readonly list: unknown
  readonly free: boolean
  /** For the gateway's own organization, which sees its connections' ids. */
  readonly own: SystemModel
  readonly others: SystemModel
}

export interface Pool extends Source {
  /** Returns whether a shared connection with a model exists. */
  available(): boolean
}

export function poolOf({ name, accounts, log, free }: PoolSources): Pool {
  let models: Models | null = null
  const warned = new Set<string>()

  // Account lists stay the same object until a connection changes.
  const current = (): Models => {
    const list = accounts.list()
    const isFree = free()
    if (models === null || models.list !== list || models.free !== isFree)
      models = { list, free: isFree, own: modelOf(null, isFree), others: modelOf(ACCOUNT, isFree) }
    return models
  }

  function modelOf(account: string | null, isFree: boolean): SystemModel {
    const targets = accounts
      .list()
      .filter(({ orgId, enabled, metadata }) => orgId === null && enabled && metadata.free_pool === true)
      .flatMap(({ connection }) => {
        const shared = { account: account ?? connection.id, free: isFree }
        return modelsOf(connection).map((model) => ({
          ...{ provider: connection.provider, model, connectionId: connection.id, weight: 1, shared },
        }))
      })
    return {
      name,
      strategy: 'load_balance',
      targets,
      unavailable:
        'The free pool is not configured: no connection of the gateway is shared in it. Name another model; GET /v1/models lists them.',
    }
  }

  function modelsOf({
    id,
    label,
    defaultModel,
    allowedModels,
  }: ReturnType<typeof accounts.list>[number]['connection']): string[] {
    if (defaultModel !== null) return [defaultModel]
    const named = [...new Set(allowedModels)].filter((model) => !/[*?]/.test(model))
    if (named.length === 0 && !warned.has(id)) {
      warned.add(id)
      log.warn('free_pool.no_model', {
        connection: label,
        hint: 'The connection is not in the free pool: give it a default model, or allowed models without wildcards.',
      })
    }
    return named
  }

  return {
    name,
    model: (orgId) => (orgId === null ? current().own : current().others),
    available: () => current().own.targets.length > 0,
  }
}
