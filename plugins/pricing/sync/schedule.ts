// Schedules fetching of the rate card: shortly after the start, at intervals, and on request.

import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import type { Timer } from '../../../core/types/ports/ports.ts'
import type { PricingStatus } from '../service.ts'
import type { RunRow, Stored } from '../store.ts'
import type { Syncer } from './sync.ts'

/** A command that ends earlier fetches nothing. */
const FIRST_MS = 2000

export interface Schedule {
  now(): Promise<RunRow | null>
  /** Resolves when nothing is running. */
  stop(): Promise<void>
}

export function startSyncing(gateway: PluginGateway, intervalMs: number, syncer: Syncer): Schedule {
  const { clock, log } = gateway
  const siblings = gateway.optional('siblings')
  const ending = new AbortController()
  let timer: Timer | null = null
  let running: Promise<unknown> = Promise.resolve()
  const run = (reason: RunRow['reason']): Promise<RunRow | null> => {
    const started = syncer.run(reason, ending.signal)
    running = started.catch(() => null)
    return started
  }

  /** A killed process may have left its claim. Wait for its end, then try once more. */
  const first = (again: boolean): void => {
    run('start').then(
      (done) => {
        if (done === null && again && !ending.signal.aborted) timer = clock.timer(syncer.leaseMs, () => first(false), true)
      },
      (error: unknown) => log.warn('pricing.sync_failed', { error: error instanceof Error ? error.message : String(error) }),
    )
  }
  gateway.hook('ready', () => {
    // One of several workers is enough, as for the interval.
    timer = clock.timer(FIRST_MS, () => (siblings()?.leads === false ? undefined : first(true)), true)
  })
  gateway.every(
    'sync',
    intervalMs,
    async () => {
      await run('timer')
    },
    { once: true },
  )
  return {
    now: () => run('request'),
    async stop() {
      ending.abort()
      timer?.cancel()
      await running
    },
  }
}

// Shows the freshness of prices in metrics and /healthz. All processes show the same fetch.
export function showFreshness({ metrics }: PluginGateway, view: View<Stored>): PricingStatus {
  const succeeded = metrics.gauge(
    'pricing_last_success_timestamp_seconds',
    'When a rate card was fetched last; 0: never.',
    [],
    'max',
  )
  const models = metrics.gauge('pricing_models', 'Models of the rate card.', [], 'max')
  const open = metrics.gauge('pricing_drift_open', 'Price changes that are not reviewed.', [], 'max')
  const show = (stored: Stored): void => {
    succeeded.set((lastSuccess(stored) ?? 0) / 1000)
    models.set([...stored.book.values()].reduce((sum, found) => sum + found.size, 0))
    open.set(stored.driftOpen)
  }
  show(view.current)
  view.watch(show)
  return {
    summary() {
      const stored = view.current
      if (stored.lastRun === undefined) return null
      const at = lastSuccess(stored)
      return { ok: stored.lastRun.status !== 'failed', last_success_at: at === null ? null : new Date(at).toISOString() }
    },
  }
}

function lastSuccess({ sources }: Stored): number | null {
  const times = [...sources.values()].map(({ confirmedAt }) => confirmedAt)
  return times.length === 0 ? null : Math.max(...times)
}
