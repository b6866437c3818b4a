// Account states in the control plane: the record, and the locks of a connection, which operators set and end.
import { z } from 'zod'
import { notFound } from '../../core/http/api-routes.ts'
import { idParams } from '../../core/http/schemas.ts'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { AccountBook } from './accounts/account-book.ts'
import { type AccountState, ALL_MODELS } from './accounts/account-state.ts'
import type { AccountStateRecord, AccountStatus } from './service.ts'

const model = z.string().min(1).max(256)
const WEEK_MINUTES = 7 * 24 * 60

export function lockRoutes(gateway: PluginGateway, book: AccountBook): void {
  const { clock } = gateway
  const accounts = gateway.use('accounts')
  const known = (id: string, orgId: number | null): string => {
    if (!accounts.list().some(({ connection, orgId: owner }) => connection.id === id && owner === orgId))
      throw notFound(`There is no connection ${id}.`)
    return id
  }
  gateway.api({
    method: 'POST',
    path: '/api/providers/:id/locks',
    summary: 'Holds a connection back for some minutes, also one of the configuration file: one `model`, or all of them.',
    role: 'manage',
    status: 201,
    params: idParams,
    body: z.strictObject({
      minutes: z.int().min(1).max(WEEK_MINUTES),
      model: model.default(ALL_MODELS).describe('Bare id; `*`: all models.'),
    }),
    response: z.strictObject({ model: z.string(), until: z.string(), reason: z.literal('operator') }),
    audit: 'provider.lock',
    handler({ params, body, orgId, audited }) {
      const until = book.hold(known(String(params.id), orgId), body.model, body.minutes * 60_000)
      const lock = { model: body.model, until: new Date(Math.round(clock.now() + until - clock.monotonic())).toISOString() }
      audited(params.id, lock)
      return { ...lock, reason: 'operator' as const }
    },
  })

  gateway.api({
    method: 'DELETE',
    path: '/api/providers/:id/locks',
    summary: 'Ends the locks of a connection: of one `model`, or all of them.',
    role: 'manage',
    params: idParams,
    query: z.strictObject({ model: model.optional().describe('Bare id; `*`: the lock of all models.') }),
    response: z.strictObject({ cleared: z.int() }),
    audit: 'provider.clear_locks',
    handler({ params, query, orgId }) {
      return { cleared: book.clearLocks(known(String(params.id), orgId), query.model) }
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
