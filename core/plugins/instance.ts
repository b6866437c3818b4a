// One set-up plugin: everything it registered, kept together so that a reload can carry it over or tear it down.
import type { Registration } from '../hooks/registry.ts'
import { within } from '../lib/within.ts'
import type { Awaitable } from '../types/canonical.ts'
import type { ApiRoute, DataRoute, Plugin } from '../types/plugin.ts'
import type { Clock } from '../types/ports.ts'
import type { ResourceKind } from '../types/resource.ts'

export interface PluginInstance {
  readonly plugin: Plugin
  readonly options: Record<string, unknown>
  readonly hooks: Registration[]
  readonly api: ApiRoute[]
  readonly data: DataRoute[]
  readonly resources: ResourceKind[]
  /** Service tokens it provides, with the services. */
  readonly provides: Map<string, unknown>
  /** Service tokens it asked for: when one of those providers changes, this plugin is set up anew. */
  readonly uses: Set<string>
  /** Events reach it. Of two generations one listens: what happens is told once. */
  listens: boolean
  /** Undone in reverse order: subscriptions, jobs, then the plugin's own teardown. */
  readonly undo: (() => Awaitable<void>)[]
  readonly settings: Map<string, unknown>
  readonly watchers: Map<string, ((value: unknown) => void)[]>
  /** What it registers is sealed when its setup is over; when it has ended nothing begins any more. */
  phase: 'setup' | 'running' | 'ended'
}

export function pluginInstance(plugin: Plugin, options: Record<string, unknown>): PluginInstance {
  return {
    plugin,
    options,
    hooks: [],
    api: [],
    data: [],
    resources: [],
    provides: new Map(),
    uses: new Set(),
    listens: true,
    undo: [],
    settings: new Map(),
    watchers: new Map(),
    phase: 'setup',
  }
}

/** What does not end by then is left: others wait for their own end, and for the last writes. */
const TEARDOWN_MS = 10_000

/** Runs everything registered for teardown, last first; failures are returned, not thrown. */
export async function tearDown(instance: PluginInstance, clock: Clock): Promise<unknown[]> {
  const failures: unknown[] = []
  instance.phase = 'ended'
  for (const undo of instance.undo.splice(0).reverse()) {
    try {
      await within(clock, TEARDOWN_MS, undo())
    } catch (error) {
      failures.push(error)
    }
  }
  return failures
}
