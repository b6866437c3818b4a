// Account states in the control plane: the record, and DELETE /api/providers/:id/locks, which ends cooldowns early.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import { idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { AccountState } from './accounts/account-state.ts'
import type { AccountStateRecord, AccountStateService, AccountStatus } from './service.ts'

export function lockRoute(gateway: PluginGateway, states: Pick<AccountStateService, 'clearLocks'>): void {
  const accounts = gateway.use('accounts')
  gateway.api({
    method: 'DELETE',
    path: '/api/providers/:id/locks',
    summary: 'Ends the locks of a connection: of one `model`, or all of them.',
    role: 'manage',
    params: idParams,
    query: z.strictObject({ model: z.string().min(1).max(256).optional().describe('Bare id; `*`: the lock of all models.') }),
    response: z.strictObject({ cleared: z.int() }),
    audit: 'provider.clear_locks',
    handler({ params, query, orgId }) {
      const id = String(params.id)
      if (!accounts.list().some(({ connection, orgId: owner }) => connection.id === id && owner === orgId))
        throw notFound(`There is no connection ${params.id}.`)
      return { cleared: states.clearLocks(id, query.model) }
    },
  })
}

// Returns an account's state for operators.
export function recordOf(state: AccountState, connection: Connection, clock: Clock): AccountStateRecord {
  const now = clock.monotonic()
  const time = (epochMs: number) => new Date(epochMs).toISOString()
  const ahead = (until: number | null | undefined) => (until !== null && until !== undefined && until > now ? until : null)
  const wall = (until: number | null) => (until === null ? null : time(Math.round(clock.now() + until - now)))
  const { breaker, lastError } = state
  const circuit = breaker.circuit(now)
  const cooldown = ahead(state.cooldown?.until)
  const open = circuit === 'open' ? breaker.openUntil : null
  const quota = ahead(state.quotaUntil)
  const byBreaker = open !== null && open > (cooldown ?? 0)
  return {
    status: statusOf(state.refuses(connection), quota !== null, circuit !== 'closed', cooldown !== null),
    cooldown_until: wall(byBreaker ? open : cooldown),
    cooldown_source: byBreaker ? 'circuit_breaker' : cooldown === null ? null : 'retry_after',
    consecutive_failures: breaker.failures,
    breaker: circuit,
    model_locks: [...state.locks]
      .filter(([, { until }]) => now < until)
      .map(([model, { until, reason }]) => ({ model, until: wall(until) as string, reason })),
    quota_exhausted: quota !== null,
    quota_resets_at: wall(quota),
    inflight: state.inflight,
    last_error: lastError === null ? null : { status: lastError.status, message: lastError.message, at: time(lastError.at) },
    last_used_at: state.lastUsedAt === null ? null : time(state.lastUsedAt),
  }
}

function statusOf(refused: boolean, quota: boolean, open: boolean, cooling: boolean): AccountStatus {
  if (refused) return 'auth_failed'
  if (quota) return 'quota_exhausted'
  if (open) return 'circuit_open'
  return cooling ? 'cooldown' : 'active'
}
