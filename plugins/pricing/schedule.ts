// When the rate card is fetched: shortly after the start, on an interval, and on request.
import type { PluginGateway } from '../../core/types/plugin.ts'
import type { Timer } from '../../core/types/ports.ts'
import type { RunRow } from './store.ts'
import type { Syncer } from './sync.ts'

/** A command that is done before then fetches nothing. */
const FIRST_MS = 2000

export interface Schedule {
  now(): Promise<RunRow | null>
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>
}

export function startSyncing(gateway: PluginGateway, intervalMs: number, syncer: Syncer): Schedule {
  const { clock, log } = gateway
  const ending = new AbortController()
  let timer: Timer | null = null
  let running: Promise<unknown> = Promise.resolve()
  const run = (reason: RunRow['reason']): Promise<RunRow | null> => {
    const started = syncer.run(reason, ending.signal)
    running = started.catch(() => null)
    return started
  }

  /** A process that was killed may have left its claim: that ends, and then it is tried once more. */
  const first = (again: boolean): void => {
    run('start').then(
      (done) => {
        if (done === null && again && !ending.signal.aborted) timer = clock.timer(syncer.leaseMs, () => first(false), true)
      },
      (error: unknown) => log.warn('pricing.sync_failed', { error: error instanceof Error ? error.message : String(error) }),
    )
  }
  gateway.hook('ready', () => {
    timer = clock.timer(FIRST_MS, () => first(true), true)
  })
  gateway.every('sync', intervalMs, async () => {
    await run('timer')
  })
  return {
    now: () => run('request'),
    async stop() {
      ending.abort()
      timer?.cancel()
      await running
    },
  }
}
