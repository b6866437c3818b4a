// Optional facts of other plugins about models and accounts. Without those plugins the facts are unknown.
import { globMatch } from '../../core/text/glob.ts'
import type { SkipReason } from '../../core/types/error.ts'
import type { PluginGateway, Services } from '../../core/types/plugin.ts'
import type { Connection } from '../../core/types/provider.ts'
import type { KnownFacts } from './capability.ts'
import { type CostFacts, estimatedCost, listedPrice } from './strategies/cost.ts'

export type Facts = KnownFacts & CostFacts & { readonly mode?: string }
export type AccountRecord = ReturnType<Services['accountState']['of']>
export type Offered = ReturnType<Services['modelCatalogue']['offered']>

export interface Blocked {
  readonly connection: Connection
  readonly reason: SkipReason
  /** Epoch ms. */
  readonly until: number | null
}

/** The accounts of one target. */
export interface Accounts {
  readonly total: number
  readonly available: readonly Connection[]
  readonly blocked: readonly Blocked[]
}

export interface Knowledge {
  facts(provider: string, model: string): Facts
  /** Returns nano-USD; null: unknown. */
  cost(provider: string, model: string, inputTokens: number, maxTokens: number | null): number | null
  /** Returns nano-USD per 1M tokens, input and output together. */
  listedPrice(provider: string, model: string): number | null
  offered(orgId: number | null): Offered
  accounts(orgId: number | null, target: { provider: string; model: string; connectionId: string | null }): Accounts
  /** Returns null when no plugin tracks account state. */
  stateOf(connection: Connection): AccountRecord | null
  /** Remaining fraction of the quota for the model, 0 to 1; null: unknown. */
  quotaLeft(connection: Connection, model: string): number | null
}

const NOTHING: Facts = { capabilities: {} }
const NO_OFFERS: Offered = { all: [], has: () => false, providersOf: () => [] }

export function knowledgeOf(gateway: PluginGateway): Knowledge {
  const modelFacts = gateway.optional('modelFacts')
  const catalogue = gateway.optional('modelCatalogue')
  const accountState = gateway.optional('accountState')
  const quota = gateway.optional('quota')
  const accounts = gateway.use('accounts')
  const facts = (provider: string, model: string): Facts => modelFacts()?.facts(provider, model) ?? NOTHING
  return {
    facts,
    cost: (provider, model, inputTokens, maxTokens) => estimatedCost(facts(provider, model), inputTokens, maxTokens),
    listedPrice: (provider, model) => listedPrice(facts(provider, model)),
    offered: (orgId) => catalogue()?.offered(orgId) ?? NO_OFFERS,
    stateOf: (connection) => accountState()?.of(connection) ?? null,
    quotaLeft: (connection, model) => quota()?.remainingFraction(connection, model) ?? null,
    accounts(orgId, { provider, model, connectionId }) {
      const mine = accounts
        .list()
        .filter((account) => account.orgId === orgId && account.connection.provider === provider)
        .filter(({ connection }) => connectionId === null || connection.id === connectionId)
      const available: Connection[] = []
      const blocked: Blocked[] = []
      for (const { connection, enabled } of mine) {
        const found = enabled ? blockedBy(connection, model) : { reason: 'disabled' as const, until: null }
        if (found === null) available.push(connection)
        else blocked.push({ connection, ...found })
      }
      return { total: mine.length, available, blocked }
    },
  }

  function blockedBy(connection: Connection, model: string): Omit<Blocked, 'connection'> | null {
    const { allowedModels } = connection
    if (allowedModels.length > 0 && !allowedModels.some((glob) => globMatch(glob, model)))
      return { reason: 'not_allowed', until: null }
    const state = accountState()?.blocked(connection, model) ?? null
    if (state !== null) return state
    const until = quota()?.exhaustedUntil(connection, model) ?? null
    return until === null ? null : { reason: 'quota_exhausted', until }
  }
}
