// Lists the models of one organization: those of its enabled connections, once each, then virtual ones.
import type { ModelPrice } from '../../core/types/ports/prices.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import { modeOf } from './mode.ts'
import type { Offers } from './offers.ts'
import type { Capability, ModelFacts, ModelFactsService, VirtualEntry, VirtualSource } from './service.ts'

export interface ModelEntry {
  /** The model string for calls. */
  readonly id: string
  /** Epoch ms. */
  readonly createdAt: number
  readonly ownedBy: string
  /** Provider ids. */
  readonly providers: readonly string[]
  readonly facts: ModelFacts
  /** For a virtual model: its targets' model strings. */
  readonly targets: readonly string[] | null
}

/** The part of the service `accounts` that this file uses. */
interface AccountList {
  list(): readonly { connection: Connection; orgId: number | null; enabled: boolean; createdAt: number }[]
}

export interface Entries {
  all(orgId: number | null): readonly ModelEntry[]
  /** Also finds models with facts that no list contains; null: no connection serves the model. */
  find(orgId: number | null, id: string): ModelEntry | null
}

export interface EntrySources {
  accounts: AccountList
  offers: Offers
  facts: ModelFactsService
  virtual: ReadonlySet<VirtualSource>
}

// Returns the facts of a virtual model: the largest context window, the smallest output limit, all capabilities of its targets together,
// the price of the most expensive one.
function aggregated(targets: readonly ModelFacts[]): ModelFacts {
  const windows = targets.flatMap(({ contextWindow }) => contextWindow ?? [])
  const ceilings = targets.flatMap(({ maxOutputTokens }) => maxOutputTokens ?? [])
  const mode = targets.find((facts) => facts.mode !== undefined)?.mode
  const price = dearest(targets)
  return {
    ...(windows.length > 0 ? { contextWindow: Math.max(...windows) } : {}),
    ...(ceilings.length > 0 ? { maxOutputTokens: Math.min(...ceilings) } : {}),
    ...(mode ? { mode } : {}),
    ...(price ? { price } : {}),
    capabilities: union(targets),
  }
}

function union(targets: readonly ModelFacts[]): Partial<Record<Capability, boolean>> {
  const all: Partial<Record<Capability, boolean>> = {}
  for (const { capabilities } of targets)
    for (const [name, value] of Object.entries(capabilities)) all[name as Capability] = all[name as Capability] === true || value
  return all
}

function dearest(targets: readonly ModelFacts[]): ModelPrice | undefined {
  const cost = (price: ModelPrice) => (price.input ?? 0) + (price.output ?? 0)
  return targets
    .flatMap(({ price }) => price ?? [])
    .reduce<ModelPrice | undefined>((most, price) => (most === undefined || cost(price) > cost(most) ? price : most), undefined)
}

export function entriesOf({ accounts, offers, facts, virtual }: EntrySources): Entries {
  const serving = (orgId: number | null) => accounts.list().filter((account) => account.enabled && account.orgId === orgId)
  const concrete = (orgId: number | null, provider: string, model: string, createdAt: number): ModelEntry => {
    const known = facts.facts(provider, model, orgId)
    return {
      id: `${provider}/${model}`,
      createdAt,
      ownedBy: provider,
      providers: [provider],
      facts: known.mode === undefined ? { ...known, mode: modeOf(model) } : known,
      targets: null,
    }
  }
  const made = (orgId: number | null, { id, createdAt, modality, targets }: VirtualEntry): ModelEntry => {
    const together = aggregated(targets.map(({ provider, model }) => facts.facts(provider, model, orgId)))
    return {
      id,
      createdAt,
      ownedBy: 'virtual',
      providers: [...new Set(targets.map(({ provider }) => provider))],
      facts: { ...together, mode: modality === 'image' ? 'image_generation' : 'chat' },
      targets: targets.map(({ provider, model }) => `${provider}/${model}`),
    }
  }
  const virtualOnly = () => [...virtual].some(({ only }) => only === true)
  const all = (orgId: number | null): readonly ModelEntry[] => {
    const found = new Map<string, ModelEntry>()
    const connected = virtualOnly() ? [] : serving(orgId)
    for (const { connection, createdAt } of connected)
      for (const { model, allowed } of offers.of(connection)) {
        const id = `${connection.provider}/${model}`
        if (allowed && !found.has(id)) found.set(id, concrete(orgId, connection.provider, model, createdAt))
      }
    for (const source of virtual) for (const entry of source.list(orgId)) found.set(entry.id, made(orgId, entry))
    return [...found.values()]
  }
  return {
    all,
    find(orgId, id) {
      const listed = all(orgId).find((entry) => entry.id === id)
      if (listed !== undefined) return listed
      if (virtualOnly()) return null
      const slash = id.indexOf('/')
      const [provider, model] = [id.slice(0, slash), id.slice(slash + 1)]
      const account = serving(orgId).find(
        ({ connection }) => connection.provider === provider && offers.serves(connection, model),
      )
      if (account === undefined || slash < 1 || facts.facts(provider, model).mode === undefined) return null
      return concrete(orgId, provider, model, account.createdAt)
    },
  }
}
