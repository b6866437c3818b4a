// The model `auto`: without configuration, chooses the best model of all connections: healthy, with quota, cheap, fast. It ranks once a
// second; a request tries the first five that can serve it.
import { capable, type RequestNeeds } from '../planning/capability.ts'
import { AUTO, type CompiledModel, type CompiledTarget, PLAIN_CONFIG, plainTarget } from '../planning/compiled-model.ts'
import type { Accounts, Knowledge } from '../planning/model-facts.ts'
import { byQuality } from '../strategies/cost.ts'
import type { LatencyTable, LatencyTables } from '../strategies/latency-table.ts'

const WEIGHTS = { health: 0.35, quota: 0.2, cost: 0.25, latency: 0.2 }
const UNKNOWN = { quota: 0.5, cost: 0.3, latency: 0.5 }
const TRIED = 5
const RANKED_FOR_MS = 1000

export interface AutoModel {
  /** Returns a model whose targets are all eligible ones, best first. */
  compiled(orgId: number | null): CompiledModel
  /** Returns it with the targets that one request tries. */
  narrowed(compiled: CompiledModel, needs: RequestNeeds): CompiledModel
  /** Returns it for model lists. */
  shown(orgId: number | null): CompiledModel
}

export interface AutoSources {
  knowledge: Knowledge
  latency: LatencyTables
  /** Ms. */
  monotonic: () => number
  /** Epoch ms. */
  now: number
}

export function autoModel({ knowledge, latency, monotonic, now }: AutoSources): AutoModel {
  const ranked = new Map<number | null, { offered: unknown; until: number; compiled: CompiledModel }>()

  const compiled = (orgId: number | null): CompiledModel => {
    const offered = knowledge.offered(orgId)
    const known = ranked.get(orgId)
    if (known !== undefined && known.offered === offered && known.until > monotonic()) return known.compiled
    const made: CompiledModel = {
      name: AUTO,
      id: AUTO,
      orgId,
      ordering: 'failover',
      modality: 'text',
      enabled: true,
      version: '',
      targets: ranking(orgId),
      config: PLAIN_CONFIG,
      createdAt: now,
    }
    ranked.set(orgId, { offered, until: monotonic() + RANKED_FOR_MS, compiled: made })
    return made
  }

  function ranking(orgId: number | null): CompiledTarget[] {
    const measured = latency(orgId)
    const possible = knowledge.offered(orgId).all.flatMap(({ provider, model, isDefault }) => {
      const { mode, price, contextWindow } = knowledge.facts(orgId, provider, model)
      const known = price !== undefined || contextWindow !== undefined
      if (mode === 'chat' ? !known && !isDefault : mode !== undefined || !isDefault) return []
      const target = plainTarget(provider, model)
      const accounts = knowledge.accounts(orgId, target)
      return hopeless(accounts) ? [] : [{ target, available: accounts.available, health: healthOf(target, accounts, measured) }]
    })
    // When every target is unavailable, the executor reports that and the retry time.
    const awake = possible.filter(({ available }) => available.length > 0)
    const eligible = awake.length > 0 ? awake : possible
    const prices = ranks(eligible.map(({ target }) => blendedPrice(orgId, target)))
    const qualityOf = ({ provider, model }: CompiledTarget) => knowledge.quality(orgId, provider, model)
    const times = ranks(eligible.map(({ target }) => measured.any(target.id)?.ms ?? null))
    return eligible
      .map(({ target, available, health }, index) => ({
        target,
        score:
          WEIGHTS.health * health +
          WEIGHTS.quota * quotaOf(target, available) +
          WEIGHTS.cost * (prices[index] ?? UNKNOWN.cost) +
          WEIGHTS.latency * (times[index] ?? UNKNOWN.latency),
      }))
      .sort(
        (a, b) =>
          b.score - a.score || byQuality(qualityOf(a.target), qualityOf(b.target)) || (a.target.id < b.target.id ? -1 : 1),
      )
      .map(({ target }) => target)
  }

  function healthOf(target: CompiledTarget, { available }: Accounts, measured: LatencyTable): number {
    const states = available.map((connection) => knowledge.stateOf(connection)?.breaker ?? 'closed')
    const circuit = states.includes('closed') ? 1 : states.includes('half_open') ? 0.5 : 0
    return Math.max(0, circuit - measured.failureRate(target.id))
  }

  /** Returns the quota of the account with the most remaining: exhausted accounts are skipped. */
  function quotaOf({ model }: CompiledTarget, available: Accounts['available']): number {
    return Math.max(0, ...available.map((connection) => knowledge.quotaLeft(connection, model) ?? UNKNOWN.quota))
  }

  function blendedPrice(orgId: number | null, { provider, model }: CompiledTarget): number | null {
    const { price } = knowledge.facts(orgId, provider, model)
    return price?.input === undefined || price.output === undefined ? null : 0.6 * price.input + 0.4 * price.output
  }

  return {
    compiled,
    narrowed(all, needs) {
      const able: CompiledTarget[] = []
      for (const target of all.targets) {
        if (capable(knowledge.facts(all.orgId, target.provider, target.model), needs)) able.push(target)
        if (able.length === TRIED) break
      }
      // Model facts may be wrong, so keep at least one target.
      return { ...all, targets: able.length > 0 ? able : all.targets.slice(0, TRIED) }
    },
    shown: (orgId) => {
      const all = compiled(orgId)
      return { ...all, targets: all.targets.slice(0, TRIED) }
    },
  }
}

/** Returns true when no account is available, now or later. */
function hopeless({ available, blocked }: Accounts): boolean {
  return (
    available.length === 0 &&
    blocked.every(({ reason }) => reason === 'disabled' || reason === 'auth_failed' || reason === 'not_allowed')
  )
}

/** Returns 1 for the smallest value, 0 for the largest, by rank; null stays null. */
function ranks(values: readonly (number | null)[]): (number | null)[] {
  const sorted = [...new Set(values.filter((value) => value !== null))].sort((a, b) => a - b)
  const place = new Map(sorted.map((value, index) => [value, index]))
  return values.map((value) => (value === null ? null : 1 - (place.get(value) as number) / Math.max(1, sorted.length - 1)))
}
