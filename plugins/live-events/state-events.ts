// Builds the event `state` from events of other plugins: which part of the gateway changed, and until when. Never content.
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'

/** As in the stream. */
export interface StateEvent {
  readonly kind: 'breaker' | 'cooldown' | 'quota' | 'credential' | 'budget' | 'reload'
  readonly id: string
  readonly state: string
  /** RFC 3339 UTC; null: until the next event. */
  readonly until: string | null
}

/** A change of state before formatting. */
export interface Changed {
  readonly event: 'state'
  readonly orgId: number | null
  readonly data: StateEvent
}

/** Passes each change on to `push`. */
export function followState({ events }: Pick<PluginGateway, 'events'>, push: (changed: Changed) => void): void {
  const pass = (orgId: number | null, data: StateEvent): void => push({ event: 'state', orgId, data })
  events.on('account.state_changed', ({ kind, account_id, state, until }, { orgId }) =>
    pass(orgId, { kind, id: account_id, state, until: until === null ? null : new Date(until).toISOString() }),
  )
  events.on('budget.threshold_crossed', ({ budget_id, threshold_percent, window_end = null }, { orgId }) =>
    pass(orgId, { kind: 'budget', id: String(budget_id), state: `over_${threshold_percent}`, until: window_end }),
  )
  events.on('budget.crossed', ({ budget_id, window_end = null }, { orgId }) =>
    pass(orgId, { kind: 'budget', id: String(budget_id), state: 'at_limit', until: window_end }),
  )
  events.on('budget.projected_exceeded', ({ budget_id, window_end = null }, { orgId }) =>
    pass(orgId, { kind: 'budget', id: String(budget_id), state: 'projected', until: window_end }),
  )
  events.on('config.reload', ({ generation, state }) =>
    pass(null, { kind: 'reload', id: String(generation), state, until: null }),
  )
}
