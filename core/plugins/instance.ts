// One plugin after set-up: everything it registered, kept together so that a reload can carry it over or tear it down.
import type { Registration } from '../hooks/registry.ts'
import { withTimeout } from '../timing/with-timeout.ts'
import type { PluginPage } from '../types/plugin/page.ts'
import type { Panel } from '../types/plugin/panel.ts'
import type { ApiRoute, DataRoute, Plugin } from '../types/plugin/plugin.ts'
import type { PortableKind } from '../types/plugin/portable.ts'
import type { ResourceKind } from '../types/plugin/resource.ts'
import type { Clock } from '../types/ports/ports.ts'
import type { Awaitable } from '../types/request/canonical.ts'

export interface PluginInstance {
  readonly plugin: Plugin
  readonly options: Record<string, unknown>
  readonly hooks: Registration[]
  readonly api: ApiRoute[]
  readonly data: DataRoute[]
  /** The panels it adds to the dashboard. */
  readonly panels: Panel[]
  /** Its own pages in the dashboard. */
  readonly pages: PluginPage[]
  readonly resources: ResourceKind[]
  readonly portable: PortableKind[]
  /** The services it provides, by token. */
  readonly provides: Map<string, unknown>
  /** Service tokens it requested. When one of their providers changes, this plugin is set up again. */
  readonly uses: Set<string>
  /** Looks up a service in the serving generation, or in the generation that is being built. */
  service(token: string): unknown
  /** True when events reach this instance. Only one of two generations listens, so that each event is handled once. */
  listens: boolean
  /** Functions that run in reverse order at teardown: subscriptions, jobs, then the plugin's own teardown. */
  readonly undo: (() => Awaitable<void>)[]
  /** Stop functions of its jobs. Each waits for a job that is running. */
  readonly jobs: (() => Promise<void>)[]
  readonly settings: Map<string, unknown>
  /** Values that organizations changed for themselves, by organization and key. */
  ownSettings: ReadonlyMap<number, ReadonlyMap<string, unknown>>
  /** Increases with each change of a value in `settings` or `ownSettings`. */
  settingsVersion: number
  readonly watchers: Map<string, ((value: unknown, orgId: number | null) => void)[]>
  /** Registrations are sealed when setup ends. After teardown the plugin cannot start work. */
  phase: 'setup' | 'running' | 'ended'
}

export function pluginInstance(plugin: Plugin, options: Record<string, unknown>): PluginInstance {
  return {
    plugin,
    options,
    hooks: [],
    api: [],
    data: [],
    panels: [],
    pages: [],
    resources: [],
    portable: [],
    provides: new Map(),
    uses: new Set(),
    service: () => undefined,
    listens: true,
    undo: [],
    jobs: [],
    settings: new Map(),
    ownSettings: new Map(),
    settingsVersion: 0,
    watchers: new Map(),
    phase: 'setup',
  }
}

/** A teardown that takes longer is abandoned and logged. */
const TEARDOWN_MS = 10_000

/** Runs every teardown function, the last one first. Returns failures instead of throwing them. */
export async function tearDown(instance: PluginInstance, clock: Clock): Promise<unknown[]> {
  const failures: unknown[] = []
  instance.phase = 'ended'
  failures.push(...(await stopJobs(instance, clock)))
  for (const undo of instance.undo.splice(0).reverse()) {
    try {
      await withTimeout(clock, TEARDOWN_MS, undo())
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}

/** Stops the plugin's jobs and waits for running ones. Returns failures. */
export async function stopJobs({ jobs }: PluginInstance, clock: Clock): Promise<unknown[]> {
  const stopped = await Promise.allSettled(jobs.splice(0).map((stop) => withTimeout(clock, TEARDOWN_MS, stop())))
  return stopped.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
}
