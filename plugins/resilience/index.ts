// Tracks the state of accounts: circuits, cooldowns, model locks, exhausted quotas, refused credentials and in-flight caps. It keeps
// requests away from unusable accounts, and admits them again.
import { z } from 'zod'
import { BatchWriter } from '../../core/db/batch-writer.ts'
import { definePlugin } from '../../core/plugins/define.ts'
import { isReplay } from '../../core/records/replays.ts'
import type { Candidate } from '../../core/types/request/context.ts'
import { AccountBook } from './accounts/account-book.ts'
import type { AccountState } from './accounts/account-state.ts'
import { errorRules } from './accounts/error-rules.ts'
import { startSharing } from './accounts/sharing.ts'
import { loadStates, storeState } from './accounts/store.ts'
import { lockRoutes, recordOf } from './api.ts'
import { accountFacts } from './attention.ts'
import { announcer, outageWatch, SUBSCRIPTIONS } from './events.ts'
import { accountMetrics } from './gauges.ts'
import { migrations } from './migrations.ts'
import { moveCounter } from './moves.ts'
import { earlyProbes } from './probes/early-probes.ts'
import { startProber } from './probes/prober.ts'
import { attemptHook } from './request/attempt.ts'
import { accessOf, candidatesHook } from './request/candidates.ts'
import { capacityOf } from './request/capacity.ts'
import { cooldownWait } from './request/cooldown-wait.ts'
import { renewal } from './request/renewal.ts'
import { slowdown } from './slowdown.ts'
import { stateChanges } from './state-changes.ts'

/** Provides the service `accountState`. */
export const resilience = definePlugin({
  name: 'resilience',
  requires: ['accounts', 'connections', 'status'],
  config: z.strictObject({
    /** Concurrent requests of each account without its own limit; null or 0 = unlimited. */
    accountMaxInflight: z.int().min(0).nullable().default(null),
    costCenterMaxInflight: z.int().min(0).nullable().default(null),
    /** Longest total wait of one request for accounts with a retry time, ms; null or 0 = no wait. */
    cooldownRetryMaxWaitMs: z.int().min(0).nullable().default(null),
    requestDeadlineMs: z.int().min(0).nullable().default(null).meta({ env: 'REQUEST_DEADLINE_MS' }),
    healthCheckIntervalSecs: z.int().min(0).nullable().default(null),
    errorRules: z.unknown().default(null),
  }),
  settings: {
    'breaker.failure_threshold': z.int().min(1).max(1000).default(5),
    'breaker.cooldown_secs': z.number().min(1).max(86_400).default(30),
    'breaker.max_cooldown_secs': z.number().min(1).max(86_400).default(300),
    /** Interval of early probes of an open circuit by requests without another account; 0 = never. */
    // Off: an open circuit is probed after `cooldown_until`, not earlier.
    'breaker.early_probe_secs': z.number().min(0).max(86_400).default(0),
  },
  variables: {
    ACCOUNT_MAX_INFLIGHT: { option: 'accountMaxInflight', about: 'Concurrent requests per upstream account.' },
    COST_CENTER_MAX_INFLIGHT: { option: 'costCenterMaxInflight', about: 'Concurrent requests per cost center.' },
    COOLDOWN_RETRY_MAX_WAIT_MS: {
      option: 'cooldownRetryMaxWaitMs',
      about: 'Longest time that a request waits for the Retry-After of an account, ms.',
    },
    HEALTH_CHECK_INTERVAL_SECS: {
      option: 'healthCheckIntervalSecs',
      about: 'Interval of active health checks of each connection, s; unset or 0 = off.',
    },
    ERROR_RULES: { option: 'errorRules', type: 'json', lenient: true, about: 'Rules that classify upstream errors.' },
  },
  events: SUBSCRIPTIONS,
  migrations,
  async setup(gateway, config) {
    const { clock, db, settings } = gateway
    const accounts = gateway.use('accounts')
    const quota = gateway.optional('quota')
    const shared = gateway.use('status').checks.some(({ name }) => name === 'shared_store')
    const accountOf = (id: string) => accounts.list().find(({ connection }) => connection.id === id)
    const orgOf = (id: string) => accountOf(id)?.orgId ?? null
    const tell = stateChanges(gateway, (id) => {
      const account = accountOf(id)
      return account && { orgId: account.orgId, provider: account.connection.provider }
    })

    const moves = moveCounter(gateway.slot<readonly Candidate[]>(), gateway.optional('siblings')())

    const unwritten = new Set<AccountState>()
    const writer = new BatchWriter<AccountState>({
      name: 'state of accounts',
      clock,
      log: gateway.log,
      detached: gateway.detached,
      async write(states) {
        for (const state of states) {
          unwritten.delete(state)
          await storeState(db, state, clock)
        }
      },
    })
    const sharing = startSharing(gateway, () => book, shared, tell)
    const announce = announcer(gateway, orgOf, shared)
    const connections = gateway.use('connections')
    const book: AccountBook = new AccountBook({
      clock,
      accessOf: accessOf({ secretOf: (connection) => connections.secretOf(connection) }),
      announce: {
        ...announce,
        cooldownStarted(connection, ms, source) {
          metrics.cooldown(connection, source)
          announce.cooldownStarted(connection, ms, source)
        },
      },
      rules: () => ({
        threshold: settings.get('breaker.failure_threshold'),
        cooldownMs: settings.get('breaker.cooldown_secs') * 1000,
        maxCooldownMs: settings.get('breaker.max_cooldown_secs') * 1000,
      }),
      changed(state) {
        if (!unwritten.has(state)) {
          unwritten.add(state)
          writer.push(state)
        }
        sharing.publish(state)
        if (state.quiet) moves.forget(state.id)
        tell(state)
      },
    })
    await loadStates(db, book.of, clock)
    await sharing.look()
    const metrics = accountMetrics(gateway, book)

    const early = earlyProbes({
      book,
      since: gateway.slot<number>(),
      everyMs: () => settings.get('breaker.early_probe_secs') * 1000,
    })
    gateway.hook(
      'candidates',
      candidatesHook({
        book,
        clock,
        early,
        planned: moves.planned,
        usedUp: ({ connection, target }) => (quota()?.exhaustedUntil(connection, target.model) ?? null) !== null,
      }),
    )
    const outage = outageWatch(gateway)
    const capacity = capacityOf(gateway.counters, config.accountMaxInflight)
    gateway.hook(
      'attempt',
      attemptHook({
        gateway,
        book,
        early,
        capacity,
        shared,
        renewal: renewal(gateway),
        rules: errorRules(config.errorRules, gateway.log),
        wait: cooldownWait(gateway, {
          maxWaitMs: config.cooldownRetryMaxWaitMs ?? 0,
          deadlineMs: config.requestDeadlineMs ?? 0,
        }),
        outage: (connection) => outage.failed(connection.provider, orgOf(connection.id)),
      }),
      // Retries inside count as one call of the account.
      { order: 'pre' },
    )
    const limit = config.costCenterMaxInflight
    if (limit) {
      gateway.hook('admit', async (ctx) => {
        if (ctx.costCenter === null) return
        const release = await capacity.costCenter(ctx.principal.orgId, ctx.costCenter, limit)
        ctx.hold({ settle: release })
      })
    }

    gateway.hook('settled', (ctx, outcome) => {
      metrics.skipped(ctx.attempts)
      moves.settled(ctx, outcome)
    })

    gateway.provide('accountState', {
      of: (connection) => recordOf(book.of(connection.id), connection, clock),
      blocked(connection, model) {
        const now = clock.monotonic()
        const block = book.of(connection.id).blocked(connection, model, now)
        if (block === null) return null
        return { reason: block.reason, until: block.until === null ? null : clock.now() + Math.ceil(block.until - now) }
      },
      async slot(connection, source) {
        const limit = capacity.limitOf(connection, isReplay({ source }))
        const release = limit === null ? null : await capacity.account(connection, limit)
        const state = book.of(connection.id)
        state.inflight++
        return () => {
          state.inflight--
          release?.()
        }
      },
      clear: (id) => book.clear(id),
      clearLocks: (id, model) => book.clearLocks(id, model),
    })
    lockRoutes(gateway, book)
    if (config.healthCheckIntervalSecs) startProber(gateway, book, metrics, config.healthCheckIntervalSecs * 1000)
    const takeBack = accounts.extend({ state: (connection) => ({ ...recordOf(book.of(connection.id), connection, clock) }) })
    const slower = slowdown(gateway.optional('ledger'), clock)
    const silence = gateway.use('attention').contribute('resilience', accountFacts(gateway, book, outage, moves, slower))
    return async () => {
      silence()
      moves.close()
      takeBack()
      await sharing.close()
      await writer.close()
    }
  },
})

export default resilience
