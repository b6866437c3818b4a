// Builds the parts that live as long as the gateway, across reloads: clock, log, metrics, events, stores and settings.

import type { $fetch } from 'ofetch'
import { createStorage } from 'unstorage'
import { attentionBoard } from './attention.ts'
import { directCalls } from './calls/direct-calls.ts'
import { ownCalls } from './calls/own-calls.ts'
import { responseItems } from './calls/response-items.ts'
import { tracedCalls } from './calls/traced-call.ts'
import { translator } from './calls/translate.ts'
import { memoryCounters } from './counters/memory.ts'
import { GroupCommit } from './db/group-commit.ts'
import { ViewHub } from './db/views.ts'
import { EventBus } from './events/bus.ts'
import { lazyFetch } from './http/lazy-fetch.ts'
import { memoryDriver } from './kv/memory-driver.ts'
import { jsonLog } from './log.ts'
import type { Metrics } from './metrics/registry.ts'
import type { Runtime } from './pipeline/runtime.ts'
import { SettingsRegistry } from './plugins/settings.ts'
import { systemClock } from './timing/clock.ts'
import { detachedClock } from './timing/detached-clock.ts'
import type { Ports } from './types/gateway.ts'
import type { MediaOperation } from './types/operations/operations.ts'
import type { Database, TenantWall } from './types/ports/db.ts'
import type {
  Clock,
  Counters,
  KeyValueStore,
  Logger,
  OutboundGuard,
  OutboundPost,
  Vault,
  VectorStore,
} from './types/ports/ports.ts'
import type { Processes } from './types/ports/processes.ts'
import type { Siblings } from './types/ports/siblings.ts'
import type { Operation } from './types/request/canonical.ts'
import { memoryVectors } from './vectors/memory.ts'

export interface LongLived {
  readonly http: typeof $fetch
  readonly internalHttp: typeof $fetch
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  readonly events: EventBus
  readonly storage: KeyValueStore
  readonly counters: Counters
  readonly vectors: VectorStore
  readonly settings: SettingsRegistry
  readonly db: Database | undefined
  readonly vault: Vault | undefined
  readonly views: ViewHub | undefined
  readonly commits: GroupCommit | undefined
  readonly siblings: Siblings | undefined
  /** Set in multi-tenant mode only, and only where the database can hide rows by itself. */
  readonly wall: TenantWall | undefined
  /** Returns `fn` such that its statements see the rows of every organization. */
  readonly detached: TenantWall['detached']
  /** Finishes the last writes, then closes the stores. */
  close(): Promise<void>
}

/** Tells the other workers that rows of views have changed. */
const WROTE = 'views'
/** A write waits for the other workers for so long. Then they see the change at their next poll. */
const INFORM_MS = 2500

/** Loads the library for metrics with the first gateway. */
export async function longLived(ports: Ports, multiTenant: boolean): Promise<LongLived> {
  const { createMetrics } = await import('./metrics/registry.ts')
  const { db, vault } = ports
  const wall = multiTenant ? db?.wall : undefined
  const detached: TenantWall['detached'] = wall === undefined ? (fn) => fn : (fn) => wall.detached(fn)
  const given = ports.clock ?? systemClock
  const clock = wall === undefined ? given : detachedClock(given, detached)
  const log = ports.log ?? jsonLog(clock)
  const { siblings } = ports
  const metrics = createMetrics(siblings)
  if (siblings !== undefined) metrics.gauge('workers', 'Processes that serve this address.').set(1)
  const views = db && new ViewHub(db, clock, log, { detached, wrote: () => informed(siblings, clock) })
  // Twice, because a poll that is already running may have read before the write.
  siblings?.answer(WROTE, async () => {
    // The first may have begun before the change.
    await views?.poll()
    await views?.poll()
    return true
  })
  const commits = db && new GroupCommit(db, clock, log, ports.spool, detached)
  return {
    http: lazyFetch(ports.guardedFetch),
    internalHttp: lazyFetch(undefined),
    clock,
    log,
    metrics,
    events: new EventBus(log, () => clock.now()),
    storage: ports.storage ?? createStorage({ driver: memoryDriver({ clock }) }),
    counters: ports.counters ?? memoryCounters(clock),
    vectors: ports.vectors ?? memoryVectors({ clock }),
    settings: new SettingsRegistry(log),
    db,
    vault,
    views,
    commits,
    siblings,
    wall,
    detached,
    async close() {
      await views?.close()
      await commits?.flush()
      await ports.close?.()
    },
  }
}

/** Returns the services of core that stay the same across reloads. */
export function lastingServices(
  ports: Ports,
  { metrics, settings, vectors, clock, log, detached }: LongLived,
  runtime: Runtime,
): Readonly<Record<string, unknown>> {
  // The data plane works for all organizations, also when a route of one of them calls it.
  const own = ownCalls(runtime)
  const traced = tracedCalls(runtime)
  return {
    attention: attentionBoard({ clock, log }),
    crossOrigin: runtime.crossOrigin,
    directCalls: directCalls(runtime),
    exposition: metrics,
    responseItems: responseItems(runtime),
    ownCalls: {
      post: (call) => detached(own.post)(call),
      stream: (...call) => detached(own.stream)(...call),
    } satisfies typeof own,
    translator: translator(runtime),
    tracedCalls: { run: (...call) => detached(traced.run)(...call) } satisfies typeof traced,
    operations: { of: (operation: Operation) => runtime.operations.get(operation as MediaOperation) },
    settings,
    vectors,
    ...(ports.simulate === undefined ? {} : { simulator: ports.simulate }),
    ...(ports.siblings === undefined ? {} : { siblings: ports.siblings }),
    ...(ports.hookTracer === undefined ? {} : { hostTracer: ports.hookTracer }),
    ...(ports.readPage === undefined ? {} : { pages: ports.readPage }),
    processes: ports.processes ?? ALL_RUN,
    outbound: ports.outbound ?? UNGUARDED,
    outboundPost: ports.outboundPost ?? NO_WAY_OUT,
  }
}

/** Defaults for ports that the host does not provide. */
const ALL_RUN: Processes = { runs: () => true }
const UNGUARDED: OutboundGuard = { check: (url) => new URL(url) }
const NO_WAY_OUT: OutboundPost = async () => {
  throw new Error('This gateway was given no way to send webhooks.')
}

/** Resolves when the other workers have read a change, so that the caller's next request finds it in each of them. */
function informed(siblings: Siblings | undefined, clock: Clock): Promise<void> {
  if (siblings === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = clock.timer(INFORM_MS, resolve)
    void siblings.ask(WROTE).then(() => {
      timer.cancel()
      resolve()
    })
  })
}
