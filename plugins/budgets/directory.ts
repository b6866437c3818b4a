// Indexes the budgets that apply to a request, so that a request needs one look-up per scope, and none without budgets. A change of single
// budgets updates only their entries.

import type { Services } from '../../core/types/plugin/plugin.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import { Groups } from './groups.ts'
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

/** Returns the budgets of an organization, the oldest first. */
export function ofOrganization(all: ReadonlyMap<number, Budget>, orgId: number | null): readonly Budget[] {
  return [...all.values()].filter((budget) => budget.orgId === orgId).sort((a, b) => a.id - b.id)
}

const NONE: readonly Budget[] = []

export class BudgetDirectory {
  readonly #entities: Entities
  readonly #byId = new Map<number, Budget>()
  readonly #orgs = new Groups<number | null>()
  readonly #keyIds = new Groups<number>()
  readonly #keyLabels = new Groups<string>()
  readonly #modelIds = new Groups<number>()
  readonly #modelNames = new Groups<string>()
  #enabled = 0

  constructor(all: ReadonlyMap<number, Budget>, entities: Entities) {
    this.#entities = entities
    this.take(all, null)
  }

  get byId(): ReadonlyMap<number, Budget> {
    return this.#byId
  }

  /** @param ids the budgets that differ; null: any of them may. */
  take(all: ReadonlyMap<number, Budget>, ids: ReadonlySet<number> | null): void {
    for (const id of ids ?? new Set([...this.#byId.keys(), ...all.keys()])) {
      const [before, now] = [this.#byId.get(id), all.get(id)]
      if (before !== undefined) {
        this.#byId.delete(id)
        this.#index(before, -1)
      }
      if (now !== undefined) {
        this.#byId.set(id, now)
        this.#index(now, 1)
      }
    }
  }

  /** Returns enabled budgets in the order of refusals: key, virtual model, organization. */
  of(ctx: RequestContext): readonly Budget[] {
    if (this.#enabled === 0 || ctx.operation === 'count_tokens') return NONE
    const { orgId, keyId, label } = ctx.principal
    let found = NONE
    if (keyId !== null) {
      found = joined(found, this.#keyIds.get(keyId), orgId)
      const declared = label === null ? undefined : this.#keyLabels.get(label)
      if (declared !== undefined && this.#entities.keys.labelled(orgId, label as string)?.id === keyId)
        found = joined(found, declared, orgId)
    }
    if (ctx.virtualModel !== null && this.#modelIds.size + this.#modelNames.size > 0) {
      const model = this.#entities.virtualModels()?.named(orgId, ctx.virtualModel) ?? null
      if (model !== null) {
        found = joined(found, this.#modelIds.get(model.id), orgId)
        found = joined(found, this.#modelNames.get(model.name), orgId)
      }
    }
    return joined(found, this.#orgs.get(orgId), orgId)
  }

  #index(budget: Budget, by: 1 | -1): void {
    if (!budget.enabled) return
    this.#enabled += by
    const { scope, orgId, entityId, entityLabel } = budget
    if (scope === 'org') this.#orgs.change(orgId, budget, by)
    else if (entityId === null) (scope === 'key' ? this.#keyLabels : this.#modelNames).change(entityLabel ?? '', budget, by)
    else (scope === 'key' ? this.#keyIds : this.#modelIds).change(entityId, budget, by)
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
