// Lists the models that an organization's enabled connections offer. The list is rebuilt when connections change, not per request.
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Offers } from './offers.ts'
import type { OfferedModels } from './service.ts'

/** The part of the service `accounts` that this file uses. Its list stays the same object until a change. */
interface AccountList {
  list(): readonly { connection: Connection; orgId: number | null; enabled: boolean }[]
}

export function offeredModels(accounts: AccountList, offers: Offers): (orgId: number | null) => OfferedModels {
  let asOf: unknown = null
  let byOrg = new Map<number | null, OfferedModels>()
  return (orgId) => {
    const list = accounts.list()
    if (list !== asOf) {
      asOf = list
      byOrg = new Map()
    }
    let offered = byOrg.get(orgId)
    if (offered === undefined) {
      const mine = list.filter((account) => account.enabled && account.orgId === orgId)
      offered = offeredBy(
        mine.map(({ connection }) => connection),
        offers,
      )
      byOrg.set(orgId, offered)
    }
    return offered
  }
}

function offeredBy(connections: readonly Connection[], offers: Offers): OfferedModels {
  const found = new Map<string, { provider: string; model: string; isDefault: boolean }>()
  const byModel = new Map<string, string[]>()
  for (const connection of connections)
    for (const { model, allowed } of offers.of(connection)) {
      if (!allowed) continue
      const { provider, defaultModel } = connection
      const id = `${provider}/${model}`
      const known = found.get(id)
      if (known === undefined) byModel.set(model, [...(byModel.get(model) ?? []), provider])
      found.set(id, { provider, model, isDefault: model === defaultModel || known?.isDefault === true })
    }
  return {
    all: [...found.values()],
    has: (id) => found.has(id),
    providersOf: (model) => byModel.get(model) ?? [],
  }
}
