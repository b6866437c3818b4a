// /api/budgets: list, create, read, change, delete, increase temporarily.
import { z } from 'zod'
import { conflict, refuseExclusive, refuseOwnedByFile } from '../../../core/config/owned.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import { deleted, idParams } from '../../../core/http/schemas.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { Db, View } from '../../../core/types/ports/db.ts'
import { dropStates } from '../alerts/states.ts'
import { type Entities, type Entity, entityOf, ofOrganization } from '../directory.ts'
import { limitOf } from '../limit.ts'
import { isAboveKeyCap, NANO, nanoOf } from '../resource.ts'
import type { Recounts } from '../restate.ts'
import type { Budget } from '../service.ts'
import {
  activeBudget,
  archiveBudget,
  type BudgetFields,
  budgetOf,
  budgetsOf,
  insertBudget,
  insertIncrease,
  updateBudget,
} from '../store.ts'
import { budgetRecord, type CreateBody, createBody, type IncreaseBody, increaseBody, updateBody } from './fields.ts'

export interface BudgetRoutes {
  readonly gateway: PluginGateway
  readonly view: View<Map<number, Budget>>
  readonly entities: Entities
  /** USD; 0 = no limit. */
  readonly maxKeyUsd: number
  /** 0 = no limit. */
  readonly maxIncreaseDays: number
  readonly recounts: Recounts
  /** IANA name of the zone of the windows. */
  readonly timeZone: string
  /** Returns them with their current status. */
  shown(budgets: readonly Budget[]): Promise<z.input<typeof budgetRecord>[]>
}

const SECTION = 'budgets'
const IDS = { key: 'client key', virtual_model: 'virtual model' } as const

const DAY_MS = 86_400_000

/** Returns nano-USD. @param limitNano the current limit. @throws GatewayError 400. */
function increaseAmount({ amount_usd, additional_usd, hard_limit_usd }: IncreaseBody, limitNano: number): number {
  const given = [amount_usd, additional_usd, hard_limit_usd].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw GatewayError.invalid(
      'amount_usd',
      'Say how much more as `amount_usd` (or `additional_usd`), or up to which limit as `hard_limit_usd`: one of them.',
    )
  if (hard_limit_usd === undefined) return nanoOf((amount_usd ?? additional_usd) as number)
  const more = nanoOf(hard_limit_usd) - limitNano
  if (more > 0) return more
  throw GatewayError.invalid(
    'hard_limit_usd',
    `\`hard_limit_usd\`: the limit is ${limitNano / NANO} USD now; an increase goes above it.`,
  )
}

/** Returns epoch ms. @param maxDays 0 = no limit. @throws GatewayError 400. */
function increaseEnd({ expires_at }: IncreaseBody, now: number, maxDays: number): number {
  const end = Date.parse(expires_at)
  if (end <= now) throw GatewayError.invalid('expires_at', '`expires_at` is past: say when the increase is to end.')
  if (maxDays > 0 && end > now + maxDays * DAY_MS)
    throw GatewayError.invalid(
      'expires_at',
      `\`expires_at\` is more than ${maxDays} days ahead (GATEWAY_MAX_BUDGET_INCREASE_DAYS): the latest is ${new Date(now + maxDays * DAY_MS).toISOString()}.`,
    )
  return end
}

export function budgetRoutes(options: BudgetRoutes): void {
  const { gateway, view, entities, recounts, maxKeyUsd, maxIncreaseDays, timeZone, shown } = options
  const configuration = gateway.use('configuration')
  const now = () => gateway.clock.now()
  const one = async (id: number) => {
    const budget = view.current.get(id)
    const [record] = budget === undefined ? [] : await shown([budget])
    if (record === undefined) throw unknown(id)
    return record
  }

  gateway.api({
    method: 'GET',
    path: '/api/budgets',
    summary: 'Budgets, with what is spent of them.',
    role: 'member',
    response: z.strictObject({
      time_zone: z.string().describe('Windows begin and end in it: GATEWAY_BUDGET_TIMEZONE.'),
      data: z.array(budgetRecord),
    }),
    handler: async ({ orgId }) => ({
      time_zone: timeZone,
      data: await shown(ofOrganization(view.current, orgId)),
    }),
  })

  gateway.api({
    method: 'POST',
    path: '/api/budgets',
    summary: 'Creates a budget; what was spent in its current window counts.',
    role: 'manage',
    status: 201,
    body: createBody,
    response: budgetRecord,
    audit: 'budget.create',
    async handler({ body, orgId }) {
      refuseExclusive(SECTION, configuration.exclusive)
      const entity = named(body, orgId)
      refuseAboveCap(body.scope, body.hard_limit_usd)
      const fields: BudgetFields = {
        scope: body.scope,
        entityId: entity.id,
        entityLabel: entity.label,
        window: body.window,
        hardLimitNano: nanoOf(body.hard_limit_usd),
        enabled: body.enabled ?? true,
      }
      const { id } = await view.write(
        async (tx) => {
          await refuseTwin(tx, orgId, fields, entity.id, null)
          const row = await insertBudget(tx, orgId, fields, now())
          await recounts.now(tx, budgetOf(row))
          return row
        },
        (row) => [row.id],
      )
      recounts.later(id)
      return one(id)
    },
  })

  gateway.api({
    method: 'GET',
    path: '/api/budgets/:id',
    summary: 'One budget, with what is spent of it.',
    role: 'member',
    params: idParams,
    response: budgetRecord,
    handler: ({ params, orgId }) => one(mine(orgId, params.id).id),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/budgets/:id',
    summary: 'Changes a budget; members that are left out stay.',
    role: 'manage',
    params: idParams,
    body: updateBody,
    response: budgetRecord,
    audit: 'budget.update',
    async handler({ params: { id }, body, orgId }) {
      const known = mine(orgId, id)
      refuseOwnedByFile(SECTION, known)
      if (body.hard_limit_usd !== undefined) refuseAboveCap(known.scope, body.hard_limit_usd)
      const rows = () => [id]
      const moved = await view.write(async (tx) => {
        // Omitted members keep the values that another process may have just written.
        const row = await activeBudget(tx, orgId, id)
        if (row === undefined) throw unknown(id)
        const before = budgetOf(row)
        const fields = {
          ...before,
          window: body.window ?? before.window,
          hardLimitNano: body.hard_limit_usd === undefined ? before.hardLimitNano : nanoOf(body.hard_limit_usd),
          enabled: body.enabled ?? before.enabled,
        }
        const counts = fields.window !== before.window || (fields.enabled && !before.enabled)
        if (fields.window !== before.window) await refuseTwin(tx, orgId, fields, entityOf(before, entities).id, id)
        await updateBudget(tx, orgId, id, fields, now())
        if (counts) await recounts.now(tx, fields)
        return counts
      }, rows)
      if (moved) recounts.later(id)
      return one(id)
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/budgets/:id',
    summary: 'Deletes a budget: nothing is blocked by it any more.',
    role: 'manage',
    params: idParams,
    response: deleted,
    audit: 'budget.delete',
    async handler({ params: { id }, orgId, audited }) {
      const { scope, entityLabel, window, ...owned } = mine(orgId, id)
      refuseOwnedByFile(SECTION, owned)
      const rows = () => [id]
      await view.write(async (tx) => {
        if (!(await archiveBudget(tx, orgId, id, now()))) throw unknown(id)
        await dropStates(tx, id)
      }, rows)
      audited(id, { scope, entity_label: entityLabel, window })
      return { deleted: true as const }
    },
  })

  gateway.api({
    method: 'POST',
    path: '/api/budgets/:id/increase',
    summary: 'Raises the limit until a time, on top of other increases; also of a budget that the file declares.',
    role: 'manage',
    status: 201,
    params: idParams,
    body: increaseBody,
    response: budgetRecord,
    audit: 'budget.increase',
    async handler({ params: { id }, body, orgId, operator }) {
      const at = now()
      const amountNano = increaseAmount(body, limitOf(mine(orgId, id), at))
      const expiresAt = increaseEnd(body, at, maxIncreaseDays)
      const rows = () => [id]
      await view.write(async (tx) => {
        if ((await activeBudget(tx, orgId, id)) === undefined) throw unknown(id)
        const { actor: createdBy } = operator
        await insertIncrease(tx, id, { amountNano, expiresAt, reason: body.reason ?? null, createdAt: at, createdBy })
      }, rows)
      return one(id)
    },
  })

  function mine(orgId: number | null, id: number): Budget {
    const budget = view.current.get(id)
    if (budget === undefined || budget.orgId !== orgId) throw unknown(id)
    return budget
  }

  /** @throws GatewayError 400, 404 for an unknown name. */
  function named({ scope, entity_id: id = null, entity_label: label = null }: CreateBody, orgId: number | null): Entity {
    if (scope === 'org') {
      if (id !== null) throw GatewayError.invalid('entity_id', '`entity_id`: a budget of scope `org` has none.')
      if (label !== null) throw GatewayError.invalid('entity_label', '`entity_label`: a budget of scope `org` has none.')
      return { id: null, label: null, found: true }
    }
    if (label !== null && (scope === 'key' || id !== null))
      throw GatewayError.invalid(
        'entity_label',
        scope === 'key'
          ? '`entity_label`: labels of keys may be the same; name the key by `entity_id`.'
          : '`entity_label`: name the virtual model by this or by `entity_id`, not by both.',
      )
    if (id === null && label === null) throw GatewayError.invalid('entity_id', `\`entity_id\`: name a ${IDS[scope]} by its id.`)
    const entity = entityOf({ scope, orgId, entityId: id, entityLabel: label }, entities)
    if (!entity.found)
      throw new GatewayError(`There is no ${IDS[scope]} ${id ?? `\`${label}\``}.`, {
        status: 404,
        type: 'invalid_request_error',
        code: 'not_found',
        param: id === null ? 'entity_label' : 'entity_id',
      })
    return entity
  }

  function refuseAboveCap(scope: Budget['scope'], limitUsd: number): void {
    if (!isAboveKeyCap(scope, limitUsd, maxKeyUsd)) return
    throw GatewayError.invalid(
      'hard_limit_usd',
      `\`hard_limit_usd\`: a key's budget may be at most ${maxKeyUsd} USD here (GATEWAY_MAX_KEY_BUDGET_USD). A temporary increase may go above.`,
    )
  }

  /** There is one budget for each scope, entity and window. @throws GatewayError 409. */
  async function refuseTwin(
    tx: Db,
    orgId: number | null,
    { scope, window }: Pick<Budget, 'scope' | 'window'>,
    entityId: number | null,
    own: number | null,
  ): Promise<void> {
    const rows = await budgetsOf(tx, orgId, { scope, window }, entityId)
    const twin = rows.find((row) => row.id !== own && entityOf(budgetOf(row), entities).id === entityId)
    if (twin !== undefined)
      throw conflict(`There is a ${window} budget for this already: ${twin.id}. Change that one.`, 'already_exists')
  }
}

function unknown(id: number): GatewayError {
  return notFound(`There is no budget ${id}.`)
}
