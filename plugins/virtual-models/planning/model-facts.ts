// Optional facts of other plugins about models and accounts. Without those plugins the facts are unknown.
import { globMatch } from '../../../core/text/glob.ts'
import type { SkipReason } from '../../../core/types/error.ts'
import type { PluginGateway, Services } from '../../../core/types/plugin/plugin.ts'
import type { Connection } from '../../../core/types/ports/provider.ts'
import { type CostFacts, estimatedCost, listedPrice } from '../strategies/cost.ts'
import type { KnownFacts } from './capability.ts'

export type Facts = KnownFacts & CostFacts & { readonly mode?: string }
export type AccountRecord = ReturnType<Services['accountState']['of']>
export type Offered = ReturnType<Services['modelCatalogue']['offered']>

export interface Blocked {
  readonly connection: Connection
  readonly reason: SkipReason | 'assumed_down'
  /** Epoch ms. */
  readonly until: number | null
}

/** The accounts of one target. */
export interface Accounts {
  readonly total: number
  /** Enabled ones that may serve the model, in whatever state they are. */
  readonly considered: number
  readonly available: readonly Connection[]
  readonly blocked: readonly Blocked[]
}

/** Assumed states by connection id. `up` overrides cooldowns, circuits and quotas; a disabled connection stays disabled. */
export type Assumed = ReadonlyMap<string, 'up' | 'down'>

export interface Knowledge {
  /** @param orgId the organization whose connections serve the model */
  facts(orgId: number | null, provider: string, model: string): Facts
  /** Returns nano-USD; null: unknown. */
  cost(orgId: number | null, provider: string, model: string, inputTokens: number, maxTokens: number | null): number | null
  /** Returns nano-USD per 1M tokens, input and output together. */
  listedPrice(orgId: number | null, provider: string, model: string): number | null
  offered(orgId: number | null): Offered
  accounts(
    orgId: number | null,
    target: { provider: string; model: string; connectionId: string | null },
    assumed?: Assumed,
  ): Accounts
  /** Returns null when no plugin tracks account state. */
  stateOf(connection: Connection): AccountRecord | null
  /** Returns the score of shadow evaluation, 0 to 1; null: there is none, or the setting `routing.quality_tiebreak` is off. */
  quality(orgId: number | null, provider: string, model: string): number | null
  /** Remaining fraction of the quota for the model, 0 to 1; null: unknown. */
  quotaLeft(connection: Connection, model: string): number | null
}

const NOTHING: Facts = { capabilities: {} }
const NO_OFFERS: Offered = { all: [], has: () => false, providersOf: () => [] }

/** @param usesQuality whether quality decides among equals, for an organization. */
export function knowledgeOf(
  gateway: Pick<PluginGateway, 'optional' | 'use'>,
  usesQuality: (orgId: number | null) => boolean,
): Knowledge {
  const modelFacts = gateway.optional('modelFacts')
  const catalogue = gateway.optional('modelCatalogue')
  const accountState = gateway.optional('accountState')
  const policy = gateway.optional('accountPolicy')
  const oauthAccounts = gateway.optional('oauthAccounts')
  const quota = gateway.optional('quota')
  const shadow = gateway.optional('shadow')
  const accounts = gateway.use('accounts')
  const facts: Knowledge['facts'] = (orgId, provider, model) => modelFacts()?.facts(provider, model, orgId) ?? NOTHING
  return {
    facts,
    cost: (orgId, provider, model, inputTokens, maxTokens) =>
      estimatedCost(facts(orgId, provider, model), inputTokens, maxTokens),
    listedPrice: (orgId, provider, model) => listedPrice(facts(orgId, provider, model)),
    offered: (orgId) => catalogue()?.offered(orgId) ?? NO_OFFERS,
    stateOf: (connection) => accountState()?.of(connection) ?? null,
    quality: (orgId, provider, model) => (usesQuality(orgId) ? (shadow()?.known(orgId, provider, model)?.score ?? null) : null),
    quotaLeft: (connection, model) => quota()?.remainingFraction(connection, model) ?? null,
    accounts(orgId, { provider, model, connectionId }, assumed = NOTHING_ASSUMED) {
      const mine = accounts
        .list()
        .filter((account) => account.orgId === orgId && account.connection.provider === provider)
        .filter(({ connection }) => connectionId === null || connection.id === connectionId)
      const available: Connection[] = []
      const blocked: Blocked[] = []
      let considered = 0
      for (const { connection, enabled } of mine) {
        const excluded = exclusionOf(connection, model, enabled)
        if (excluded === null) considered++
        const found = excluded ?? blockedBy(connection, model, assumed.get(connection.id))
        if (found === null) available.push(connection)
        else blocked.push({ connection, ...found })
      }
      return { total: mine.length, considered, available, blocked }
    },
  }

  /** In the order of the hooks that remove candidates. */
  function blockedBy(
    connection: Connection,
    model: string,
    assumed: 'up' | 'down' | undefined,
  ): Omit<Blocked, 'connection'> | null {
    if (assumed === 'down') return { reason: 'assumed_down', until: null }
    if (policy()?.blocks(connection)) return { reason: 'policy_blocked', until: null }
    if (oauthAccounts()?.needsSignIn(connection)) return { reason: 'reauth_required', until: null }
    if (assumed === 'up') return null
    const state = accountState()?.blocked(connection, model) ?? null
    if (state !== null) return state
    const until = quota()?.exhaustedUntil(connection, model) ?? null
    if (until !== null) return { reason: 'quota_exhausted', until }
    const resetsAt = quota()?.rateResetsAt(connection, model) ?? null
    return resetsAt === null ? null : { reason: 'cooldown', until: resetsAt }
  }
}

const NOTHING_ASSUMED: Assumed = new Map()

/** Such a connection is never a candidate. */
function exclusionOf({ allowedModels }: Connection, model: string, enabled: boolean): Omit<Blocked, 'connection'> | null {
  if (!enabled) return { reason: 'disabled', until: null }
  const serves = allowedModels.length === 0 || allowedModels.some((glob) => globMatch(glob, model))
  return serves ? null : { reason: 'not_allowed', until: null }
}

/** Returns whether a virtual model with this name hides a model of a connection. */
export function shadows(knowledge: Knowledge, orgId: number | null, name: string): boolean {
  const offered = knowledge.offered(orgId)
  return offered.has(name) || offered.providersOf(name).length > 0
}
