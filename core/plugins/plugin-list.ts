// Implements the service `plugins`: the serving plugins, their registrations, and their failure counts.
import { wallTables } from '../db/wall.ts'
import type { HookRuns } from '../hooks/compile.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { PluginInfo, SealedOrder } from '../types/plugin/info.ts'
import type { Plugin, PluginOrigin } from '../types/plugin/plugin.ts'
import type { BelongsTo } from '../types/ports/db.ts'
import type { Clock } from '../types/ports/ports.ts'
import { VERSION } from '../version.ts'
import type { Generation } from './generation.ts'

interface Failures {
  count: number
  /** By hook. */
  hooks: Map<string, number>
  hook: string
  at: number
  refused: boolean
}

const DEGRADED_MS = 5 * 60_000

export class PluginList {
  readonly #failures = new Map<string, Failures>()
  readonly #setUpIn = new WeakMap<object, number>()
  readonly #counter
  readonly #clock: Clock
  readonly #generation: () => Generation
  readonly #bundled: ReadonlySet<string>
  #serving: SealedOrder | null = null
  #before: SealedOrder | null = null

  /** @param bundled plugins that come with hookgate */
  constructor(metrics: Metrics, clock: Clock, generation: () => Generation, bundled: readonly Plugin[] = []) {
    this.#counter = metrics.counter('plugin_errors_total', 'Failures of plugin hooks.', ['plugin', 'hook'])
    this.#clock = clock
    this.#generation = generation
    this.#bundled = new Set(bundled.map(({ name }) => name))
  }

  /** Counts a failure of a hook. */
  readonly failed = (plugin: string, hook: string, refused: boolean): void => {
    this.#counter.inc({ plugin, hook })
    const before = this.#failures.get(plugin)
    const hooks = before?.hooks ?? new Map<string, number>()
    hooks.set(hook, (hooks.get(hook) ?? 0) + 1)
    this.#failures.set(plugin, { count: (before?.count ?? 0) + 1, hooks, hook, at: this.#clock.now(), refused })
  }

  /** Records which plugins were set up for this generation, and when it was sealed. */
  installed(generation: Generation): void {
    for (const instance of generation.fresh) this.#setUpIn.set(instance, generation.number)
    this.#before = this.#serving
    this.#serving = { generation: generation.number, sealedAt: this.#clock.now(), order: orderOf(generation) }
  }

  /** Returns the plugins of each hook in the order in which they run. */
  order(): { hook: string; plugins: string[] }[] {
    return orderOf(this.#generation())
  }

  /** Returns the order that serves and the one before it; null: there was no reload. */
  sealed(): { serving: SealedOrder | null; before: SealedOrder | null } {
    return { serving: this.#serving, before: this.#before }
  }

  /** Returns the tables whose rows belong to the organization of another row. */
  belonging(): Readonly<Record<string, BelongsTo>> {
    return wallTables(this.#generation().instances.map(({ plugin }) => plugin.definition)).belonging
  }

  /** Returns the plugins in the order of the configuration. */
  list(): PluginInfo[] {
    const runs = this.#generation().hooks.runs()
    return this.#generation().instances.map((instance) => {
      const { plugin, hooks, api, data, panels, pages, provides } = instance
      const failures = this.#failures.get(plugin.name)
      const origin: PluginOrigin = plugin.origin ?? { kind: this.#bundled.has(plugin.name) ? 'hookgate' : 'code' }
      return {
        name: plugin.name,
        version: plugin.definition.version ?? (origin.kind === 'hookgate' ? VERSION : (origin.version ?? null)),
        origin,
        apiVersion: plugin.apiVersion,
        generation: this.#setUpIn.get(instance) ?? 1,
        hooks: [...new Set(hooks.map(({ hook }) => hook))],
        routes: [...api, ...data].map(({ method, path }) => `${method} ${path}`),
        services: [...provides.keys()],
        panels,
        pages,
        state: failures !== undefined && this.#clock.now() - failures.at < DEGRADED_MS ? 'degraded' : 'running',
        errors: failures?.count ?? 0,
        hookErrors: [...(failures?.hooks ?? [])].map(([hook, errors]) => ({ hook, errors })),
        hookRuns: summed(runs.filter((one) => one.plugin === plugin.name)),
        lastError: failures === undefined ? null : { hook: failures.hook, at: failures.at, refused: failures.refused },
      }
    })
  }
}

/** A plugin may have several handlers of one hook. */
function summed(runs: readonly HookRuns[]): PluginInfo['hookRuns'] {
  const sums = new Map<string, { hook: string; ran: number; refused: number }>()
  for (const { hook, ran, refused } of runs) {
    const sum = sums.get(hook)
    // Each request passes all handlers of a plugin: the sum would count it twice.
    if (sum === undefined) sums.set(hook, { hook, ran, refused })
    else Object.assign(sum, { ran: Math.max(sum.ran, ran), refused: sum.refused + refused })
  }
  return [...sums.values()]
}

function orderOf({ hooks }: Generation): { hook: string; plugins: string[] }[] {
  return hooks.sealed.map(({ hook, handlers }) => ({ hook, plugins: handlers.map(({ plugin }) => plugin) }))
}
