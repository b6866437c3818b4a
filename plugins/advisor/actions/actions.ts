// Applies, confirms and takes back. `applied` is the only state that an action leaves: to `confirmed`, or to `rolled_back`.
import { conflict } from '../../../core/config/owned.ts'
import { isUniqueViolation } from '../../../core/db/storage-fault.ts'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { notFound } from '../../../core/http/api-routes.ts'
import type { Operator } from '../../../core/types/operator.ts'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import { DAY_MS, WINDOW_DAYS } from '../facts.ts'
import { unansweredOf } from '../observed.ts'
import type { Advisor } from '../recommend.ts'
import type { ApplyAction } from '../service.ts'
import { afterOf, type By, entityOf, type SettingsSource } from './entity.ts'
import { measured, qualityOf, regression } from './measure.ts'
import {
  type Applied,
  actionOf,
  ended,
  insertAction,
  type Measured,
  type Reason,
  removeAction,
  reopened,
  watched,
} from './store.ts'

const HOUR_MS = 3_600_000
/** Without a confirmation the watch goes on for this long. */
const WATCH_MS = 14 * DAY_MS

export interface Actions {
  apply(orgId: number | null, operator: Operator, recommendationId: string, probationHours: number): Promise<Applied>
  confirm(orgId: number | null, id: number): Promise<Applied>
  rollBack(orgId: number | null, id: number, by: By): Promise<Applied>
  /** Figures of the requests since an action. */
  since(action: Applied): Promise<Measured>
  /** Takes back what got worse. */
  watch(): Promise<void>
}

export function actionsOn(gateway: PluginGateway, advisor: Advisor, settings: SettingsSource): Actions {
  const { db, clock, log } = gateway
  const { usage } = gateway.use('ledger')
  const audit = gateway.optional('audit')
  const shadow = gateway.optional('shadow')
  const entityFor = (orgId: number | null, action: ApplyAction) => entityOf(gateway, settings, orgId, action)

  async function mine(orgId: number | null, id: number): Promise<Applied> {
    const action = await actionOf(db, orgId, id)
    if (action === undefined) throw notFound(`There is no applied action ${id}.`)
    if (action.state !== 'applied') throw conflict(`This action is ${action.state} already.`, 'conflict')
    return action
  }

  async function since({ orgId, action, appliedAt, unanswered }: Applied): Promise<Measured> {
    const { virtualModel } = entityFor(orgId, action)
    const lost = (await unansweredOf(db, orgId, virtualModel)) - unanswered
    return measured(usage, { since: appliedAt, until: clock.now() + 1, orgId, virtualModel }, lost)
  }

  async function takenBack(action: Applied, reason: Reason, by: By): Promise<Applied> {
    const entity = entityFor(action.orgId, action.action)
    if (JSON.stringify(entity.read()) !== JSON.stringify(action.after))
      throw conflict('It was changed after the action: restore it by hand, or confirm the action.', 'conflict')
    // The state first: another replica that looks at the same moment finds nothing to do.
    const closed = await ended(db, action.id, 'rolled_back', reason, clock.now())
    if (closed === undefined) throw conflict('This action is over already.', 'conflict')
    try {
      await entity.write(action.before, action.after, by)
    } catch (error) {
      await reopened(db, action.id)
      throw error
    }
    advisor.forget(action.orgId)
    return closed
  }

  return {
    async apply(orgId, operator, recommendationId, probationHours) {
      const now = clock.now()
      const { data } = await advisor.of(orgId, now)
      const found = data.find(({ id }) => id === recommendationId)
      if (found === undefined) throw notFound('There is no such recommendation any more: list them again.')
      const { applyAction: action, applyHint, kind } = found
      if (action === null)
        throw GatewayError.invalid('recommendation_id', `This recommendation cannot be applied here. ${applyHint}`)
      const entity = entityFor(orgId, action)
      const before = entity.read()
      const window = { since: now - WINDOW_DAYS * DAY_MS, until: now, orgId, virtualModel: entity.virtualModel }
      const baseline = await measured(usage, window)
      const unanswered = await unansweredOf(db, orgId, entity.virtualModel)
      const stored = await insertAction(db, {
        orgId,
        recommendationId,
        kind,
        entity: entity.name,
        action,
        before,
        after: afterOf(action),
        baseline,
        unanswered,
        appliedAt: now,
        probationUntil: now + probationHours * HOUR_MS,
      }).catch((error: unknown) => {
        throw isUniqueViolation(error)
          ? conflict('Another action on the same entity is not confirmed yet: confirm it or roll it back.', 'conflict')
          : error
      })
      try {
        await entity.write(stored.after, before, operator)
      } catch (error) {
        await removeAction(db, stored.id)
        throw error
      }
      advisor.forget(orgId)
      return stored
    },

    async confirm(orgId, id) {
      await mine(orgId, id)
      const closed = await ended(db, id, 'confirmed', null, clock.now())
      if (closed === undefined) throw conflict('This action is over already.', 'conflict')
      return closed
    },

    rollBack: async (orgId, id, by) => takenBack(await mine(orgId, id), 'manual', by),

    since,

    async watch() {
      for (const action of await watched(db, clock.now() - WATCH_MS)) {
        try {
          const { orgId } = action
          const now = await since(action)
          const quality = await qualityOf(shadow(), action, clock.now())
          const reason = regression(action.kind, action.baseline, now, quality)
          if (reason === null) continue
          await takenBack(action, reason, { actor: 'advisor', role: 'system' })
          const details = { kind: action.kind, entity: action.entity, reason, before: action.baseline, after: now }
          log.warn('advisor.rolled_back', { action: action.id, entity: action.entity, reason })
          await audit()?.append({
            orgId,
            actor: 'advisor',
            action: 'advisor.rollback',
            target: String(action.id),
            details,
            ip: null,
          })
        } catch (error) {
          // It was changed by hand, or another replica was first: the action stays as it is.
          if (!GatewayError.is(error)) throw error
          log.info('advisor.not_rolled_back', { action: action.id, reason: error.message })
        }
      }
    },
  }
}
