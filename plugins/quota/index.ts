// Tracks remaining quota: snapshots per account from the headers of every answer and from usage APIs. An account without quota, or at a
// rate limit, is skipped until the reset.
import { definePlugin } from '../../core/plugins/define.ts'
import { errorText } from '../../core/text/error-text.ts'
import type { Connection } from '../../core/types/ports/provider.ts'
import type { Candidate, RequestContext } from '../../core/types/request/context.ts'
import type { Result } from '../../core/types/request/result.ts'
import { quotaRoutes } from './api.ts'
import { quotaFacts } from './attention.ts'
import { ExhaustedAccounts } from './exhausted.ts'
import { Meter } from './meter.ts'
import { migrations } from './migrations.ts'
import { openrouter } from './openrouter.ts'
import { refresher } from './refresh.ts'
import { loadExhausted, loadSnapshots } from './store.ts'

/** The part of the service `accountState` that this file uses. That service emits the event itself. */
interface QuotaSink {
  quotaExhausted?(connectionId: string, until: number): void
}

/** Provides the service `quota`. */
export const quota = definePlugin({
  name: 'quota',
  requires: ['accounts', 'connections', 'directCalls'],
  events: { 'account.quota_exhausted': { defaultOn: true } },
  migrations,
  async setup(gateway) {
    const { clock, events, db } = gateway
    const accounts = gateway.use('accounts')
    const accountState = gateway.optional('accountState')

    const ranOut = (connection: Connection, until: number): void => {
      const state = accountState()
      const sink = state as (typeof state & QuotaSink) | undefined
      if (sink?.quotaExhausted !== undefined) return sink.quotaExhausted(connection.id, until)
      // The service for account state has already detected and reported it.
      if (state?.of(connection).quota_exhausted) return
      const orgId = accounts.list().find((account) => account.connection.id === connection.id)?.orgId ?? null
      const occurred_at = new Date(clock.now()).toISOString()
      const change = {
        kind: 'quota',
        account_id: connection.id,
        provider: connection.provider,
        state: 'exhausted',
        until,
      } as const
      events.emit('account.state_changed', change, { orgId })
      events.emit('account.quota_exhausted', { provider: connection.provider, account_id: connection.id, occurred_at }, { orgId })
    }
    const view = await gateway.view('exhausted', loadExhausted)
    const exhausted = new ExhaustedAccounts(gateway, view, { ranOut, renewed: (id) => meter.forget(id) })
    const meter: Meter = new Meter(gateway, exhausted, await loadSnapshots(db))
    const asking = refresher(gateway, meter, () =>
      accounts.list().flatMap(({ connection, enabled }) => (enabled ? [connection] : [])),
    )
    asking.drivers.set(openrouter.provider, openrouter)

    const heard = ({ id, upstreamHeaders }: RequestContext, { connection, target }: Candidate): void => {
      if (upstreamHeaders === null) return
      try {
        meter.heard(connection, target.model, upstreamHeaders)
        asking.used(connection)
      } catch (error) {
        gateway.log.error('quota.not_heard', { requestId: id, error: errorText(error) })
      }
    }
    gateway.hook(
      'attempt',
      // It returns the promise of the attempt itself: an async function would cost each request three more.
      (ctx, candidate, next): Promise<Result> => {
        const attempt = next()
        const ended = () => heard(ctx, candidate)
        attempt.then(ended, ended)
        return attempt
      },
      // Outside all retries, and after the handling of the failure itself.
      { order: 'pre', before: 'resilience' },
    )
    gateway.hook('candidates', (ctx, candidates) => {
      // An operator's test of a connection is always allowed: its answer shows whether quota remains.
      if ((exhausted.none && meter.ratesFree) || (ctx.ingress === null && ctx.source === 'test')) return candidates
      return candidates.filter((candidate) => {
        const until = exhausted.until(candidate.connection, candidate.target.model)
        if (until !== null) ctx.skip(candidate, 'quota_exhausted', until)
        const resetsAt = until === null ? meter.rateResetsAt(candidate.connection, candidate.target.model) : null
        if (resetsAt !== null) ctx.skip(candidate, 'cooldown', resetsAt)
        return until === null && resetsAt === null
      })
    })

    gateway.provide('quota', {
      driver(driver) {
        asking.drivers.set(driver.provider, driver)
        return () => void (asking.drivers.get(driver.provider) === driver && asking.drivers.delete(driver.provider))
      },
      hasDriver: (provider) => asking.drivers.has(provider),
      exhaustedUntil: (connection, model) => exhausted.until(connection, model),
      rateResetsAt: (connection, model) => meter.rateResetsAt(connection, model),
      remainingFraction: (connection, model) => meter.remaining(connection, model),
    })
    quotaRoutes(gateway, meter, exhausted, asking)
    const takeBack = accounts.extend({
      state(connection) {
        const until = exhausted.ofAccount(connection)
        if (until === null || accountState()?.of(connection).status === 'auth_failed') return {}
        return { status: 'quota_exhausted', quota_exhausted: true, quota_resets_at: new Date(until).toISOString() }
      },
    })
    const silence = gateway.use('attention').contribute('quota', quotaFacts(accounts, exhausted))
    return async () => {
      silence()
      takeBack()
      await meter.close()
    }
  },
})

export default quota
