// Indexes the budgets that apply to a request. It is rebuilt when rows change, so that a request needs one look-up per scope, and none
// without budgets.

import type { Services } from '../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Budget } from './service.ts'

export interface Entities {
  keys: Pick<Services['keys'], 'get' | 'labelled'>
  virtualModels(): Pick<Services['virtualModels'], 'get' | 'named'> | undefined
}

/** The entity of a budget. */
export interface Entity {
  /** null: the budget of an organization, or an entity that does not exist. */
  readonly id: number | null
  readonly label: string | null
  /** False: the budget counts and blocks nothing. */
  readonly found: boolean
}

export interface Directory {
  readonly byId: ReadonlyMap<number, Budget>
  /** Returns enabled budgets in the order of refusals: key, virtual model, organization. */
  of(ctx: RequestContext): readonly Budget[]
}

const NONE: readonly Budget[] = []

export function directoryOf(all: readonly Budget[], entities: Entities): Directory {
  const enabled = all.filter((budget) => budget.enabled)
  const of = (scope: Budget['scope']) => enabled.filter((budget) => budget.scope === scope)
  const orgs = grouped(of('org'), ({ orgId }) => orgId)
  const keyIds = grouped(named(of('key'), true), ({ entityId }) => entityId as number)
  const keyLabels = grouped(named(of('key'), false), ({ entityLabel }) => entityLabel ?? '')
  const modelIds = grouped(named(of('virtual_model'), true), ({ entityId }) => entityId as number)
  const modelNames = grouped(named(of('virtual_model'), false), ({ entityLabel }) => entityLabel ?? '')

  return {
    byId: new Map(all.map((budget) => [budget.id, budget])),
    of(ctx) {
      if (enabled.length === 0 || ctx.operation === 'count_tokens') return NONE
      const { orgId, keyId, label } = ctx.principal
      let found = NONE
      if (keyId !== null) {
        found = joined(found, keyIds.get(keyId), orgId)
        const declared = label === null ? undefined : keyLabels.get(label)
        if (declared !== undefined && entities.keys.labelled(orgId, label as string)?.id === keyId)
          found = joined(found, declared, orgId)
      }
      if (ctx.virtualModel !== null && modelIds.size + modelNames.size > 0) {
        const model = entities.virtualModels()?.named(orgId, ctx.virtualModel) ?? null
        if (model !== null) {
          found = joined(found, modelIds.get(model.id), orgId)
          found = joined(found, modelNames.get(model.name), orgId)
        }
      }
      return joined(found, orgs.get(orgId), orgId)
    },
  }
}

/** Returns the row's current entity: the file names a label, the API an id. */
export function entityOf(
  { scope, orgId, entityId, entityLabel }: Pick<Budget, 'scope' | 'orgId' | 'entityId' | 'entityLabel'>,
  { keys, virtualModels }: Entities,
): Entity {
  if (scope === 'org') return { id: null, label: null, found: true }
  if (scope === 'key') {
    const key = entityId === null ? keys.labelled(orgId, entityLabel ?? '') : keys.get(orgId, entityId)
    return { id: key?.id ?? entityId, label: key?.label ?? entityLabel, found: key !== null }
  }
  const models = virtualModels()
  const model = (entityId === null ? models?.named(orgId, entityLabel ?? '') : models?.get(orgId, entityId)) ?? null
  return { id: model?.id ?? entityId, label: model?.name ?? entityLabel, found: model !== null }
}

function named(budgets: readonly Budget[], byId: boolean): readonly Budget[] {
  return budgets.filter(({ entityId }) => (entityId !== null) === byId)
}

function grouped<K>(budgets: readonly Budget[], keyOf: (budget: Budget) => K): ReadonlyMap<K, readonly Budget[]> {
  const groups = new Map<K, Budget[]>()
  for (const budget of budgets) {
    const group = groups.get(keyOf(budget))
    if (group === undefined) groups.set(keyOf(budget), [budget])
    else group.push(budget)
  }
  return groups
}

function joined(found: readonly Budget[], more: readonly Budget[] | undefined, orgId: number | null): readonly Budget[] {
  if (more === undefined) return found
  // Labels are unique only within an organization.
  const mine = more.every((budget) => budget.orgId === orgId) ? more : more.filter((budget) => budget.orgId === orgId)
  return found.length === 0 ? mine : [...found, ...mine]
}

// The cap of a session: the limit for one caller's session header. It is dropped a day after its last use.
export interface SessionCap {
  readonly sessionId: string
  /** The account in the ledger's form. */
  readonly account: { readonly name: string; readonly windowStart: 0 }
  /** Nano-USD. */
  readonly limit: number
}

export const SESSION_IDLE_MS = 86_400_000

/** @param inherited nano-USD for keys without their own cap; 0 = none. Returns null when there is no cap. */
export function sessionCap(ctx: RequestContext, keys: Pick<Services['keys'], 'of'>, inherited: number): SessionCap | null {
  const limit = keys.of(ctx)?.sessionBudgetNano ?? inherited
  // The session header is parsed on first use.
  if (limit === 0 || ctx.operation === 'count_tokens') return null
  const { sessionId, principal } = ctx
  if (sessionId === null) return null
  const name = `session:${principal.orgId ?? 0}:${principal.keyId ?? 0}:${sessionId}`
  return { sessionId, account: { name, windowStart: 0 }, limit }
}
