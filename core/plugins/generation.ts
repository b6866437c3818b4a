// Builds a generation: the plugins of one configuration, set up, sealed and numbered. A reload builds the next one beside the old one.
// Unchanged plugins are carried over with everything they registered.
import type { Configuration } from '../config/configuration.ts'
import type { Env } from '../config/env.ts'
import type { GuardEnv } from '../hooks/guard.ts'
import { type HookSet, hookSet } from '../hooks/hook-set.ts'
import { HookRegistry } from '../hooks/registry.ts'
import { errorText, wordsOf } from '../text/error-text.ts'
import { Deadlines } from '../timing/deadlines.ts'
import { withTimeout } from '../timing/with-timeout.ts'
import type { HookTracer } from '../types/plugin/hook-tracer.ts'
import type { ApiRoute, Plugin } from '../types/plugin/plugin.ts'
import type { ResourceKind } from '../types/plugin/resource.ts'
import type { Database } from '../types/ports/db.ts'
import type { Clock, Logger, Transport } from '../types/ports/ports.ts'
import { type PluginInstance, pluginInstance, stopJobs, tearDown } from './instance.ts'
import { migrateTables } from './migrate-tables.ts'
import { resolveOptions, sameOptions } from './options.ts'
import { type Facilities, pluginScope } from './scope.ts'
import { type FileSettings, type SettingsRegistry, settingsOfFile } from './settings.ts'

export interface Generation extends HookSet {
  readonly number: number
  /** Set for a traced request: its internal calls use this transport, too. */
  readonly transport?: Transport
  readonly instances: readonly PluginInstance[]
  readonly api: readonly ApiRoute[]
  readonly resources: readonly ResourceKind[]
  /** Services of core that it was built with. */
  readonly services: ReadonlyMap<string, unknown>
  service(token: string): unknown
  /** Plugins that were set up for this generation, not carried over. */
  readonly fresh: readonly PluginInstance[]
  /**
   * Makes this generation serve: carried-over plugins get the settings of its file, and plugins of the old one stop receiving settings
   * and events.
   */
  takeOver(): void
}

export interface GenerationSource {
  /** Already checked when their variables were collected. */
  readonly plugins: readonly Plugin[]
  readonly env: Env
  readonly settings: SettingsRegistry
  readonly fileSettings: FileSettings
  /** Services of core. Plugins' own services override them. */
  readonly services: ReadonlyMap<string, unknown>
  readonly facilities: Omit<Facilities, 'service' | 'providerOf'>
  readonly guard: GuardEnv
  readonly db: Database | undefined
}

/**
 * Sets up the new and changed plugins in the order of `requires`, then seals.
 * @throws Error naming the plugin; everything set up for this generation has been torn down by then.
 */
export async function buildGeneration(source: GenerationSource, previous: Generation | null): Promise<Generation> {
  const { secret } = source.services.get('configuration') as Configuration
  const wanted = source.plugins.map((plugin, at) => pluginInstance(plugin, resolveOptions(plugin, source.env, secret, at)))
  refuseDuplicates(wanted)
  const fileSettings = { ...source.fileSettings, file: settingsOfFile(source.plugins, source.fileSettings.file) }
  const kept = carriedOver(wanted, previous, source.services)
  const built: PluginInstance[] = []
  const fresh: PluginInstance[] = []
  const providing = (token: string) => built.find((instance) => instance.provides.has(token))
  const service = (token: string): unknown => providing(token)?.provides.get(token) ?? source.services.get(token)
  const providerOf = (token: string): string | null => providing(token)?.plugin.name ?? null
  try {
    await migrateTables(wanted, kept, source, previous === null)
    for (const instance of setupOrder(wanted, kept, service, built)) {
      const old = kept.get(instance.plugin.name)
      if (old === undefined) {
        fresh.push(instance)
        instance.listens = previous === null
        instance.service = service
        await setUp(instance, { ...source, fileSettings }, { service, providerOf })
        // A plugin cannot be carried over when another one now provides a service that it uses. A service that was missing is looked up
        // again.
        const replaced = [...instance.provides.keys()].filter((token) => previous?.service(token) !== undefined)
        for (const [name, candidate] of kept) if (replaced.some((token) => candidate.uses.has(token))) kept.delete(name)
      }
      built.push(old ?? instance)
    }
    const moved = source.settings.prepare([...kept.values()], fileSettings)
    const inFileOrder = wanted.map((instance) => kept.get(instance.plugin.name) ?? instance)
    const registry = new HookRegistry()
    for (const instance of inFileOrder) for (const hook of instance.hooks) registry.add(hook)
    const guard = { ...source.guard, hookTimeout: hookTimeout(source) }
    const hooks = hookSet(registry, guard, [service('hostTracer'), service('hookTracer')] as (HookTracer | undefined)[])
    const table = serviceTable(built, source)
    return {
      number: (previous?.number ?? 0) + 1,
      ...hooks,
      instances: inFileOrder,
      api: inFileOrder.flatMap((instance) => instance.api),
      resources: inFileOrder.flatMap((instance) => instance.resources),
      services: source.services,
      service: (token) => table.get(token),
      fresh,
      takeOver() {
        for (const old of previous?.instances ?? []) {
          if (inFileOrder.includes(old)) continue
          source.settings.leave(old)
          old.listens = false
        }
        for (const instance of fresh) instance.listens = true
        for (const instance of inFileOrder) instance.service = (token) => table.get(token)
        moved()
      },
    }
  } catch (error) {
    for (const instance of fresh.reverse()) {
      source.settings.leave(instance)
      await tearDown(instance, source.facilities.clock)
    }
    throw error
  }
}

function hookTimeout({ env, guard: { clock } }: GenerationSource): GuardEnv['hookTimeout'] {
  const ms = env.get<number>('HOOK_TIMEOUT_MS')
  return ms === 0 ? null : { ms, deadlines: new Deadlines(clock) }
}

/** A table, because requests look services up. The first provider of a token wins; plugins override core. */
function serviceTable(built: readonly PluginInstance[], source: GenerationSource): ReadonlyMap<string, unknown> {
  const table = new Map(source.services)
  const owners = new Map<string, string>()
  for (const { plugin, provides } of built) {
    for (const [token, service] of provides) {
      const owner = owners.get(token)
      if (owner === undefined) {
        owners.set(token, plugin.name)
        table.set(token, service)
      } else source.facilities.log.warn('service.hidden', { service: token, plugin: plugin.name, behind: owner })
    }
  }
  return table
}

/** Stops the jobs of a generation before it ends. */
export async function endJobs({ instances }: Generation, clock: Clock, log: Logger): Promise<void> {
  const end = async (instance: PluginInstance): Promise<void> => {
    for (const failure of await stopJobs(instance, clock)) teardownFailed(instance, failure, log)
  }
  await Promise.all(instances.map(end))
}

function teardownFailed({ plugin }: PluginInstance, failure: unknown, log: Logger): void {
  log.error('plugin.teardown_failed', { plugin: plugin.name, error: wordsOf(failure) })
}

/** Tears down the plugins of `old` that are in no generation of `others`, in reverse order. */
export async function retire(old: Generation, others: readonly Generation[], clock: Clock, log: Logger): Promise<void> {
  const living = new Set(others.flatMap(({ instances }) => instances))
  for (const instance of [...old.instances].reverse()) {
    if (living.has(instance)) continue
    for (const failure of await tearDown(instance, clock)) teardownFailed(instance, failure, log)
  }
}

/** Tears down everything that was set up for a generation that cannot be used. */
export async function discard(generation: Generation, settings: SettingsRegistry, clock: Clock): Promise<void> {
  for (const instance of [...generation.fresh].reverse()) {
    settings.leave(instance)
    await tearDown(instance, clock)
  }
}

/** Runs `ready` hooks after the swap. A plugin that fails here is logged, and the gateway serves. */
export async function readyAfterReload(generation: Generation, clock: Clock, log: Logger): Promise<void> {
  for (const { plugin, hooks } of generation.fresh) {
    for (const { hook, fn, options } of hooks) {
      if (hook !== 'ready') continue
      try {
        await withTimeout(clock, options.timeoutMs ?? SETUP_MS, fn())
      } catch (error) {
        log.error('plugin.error', { plugin: plugin.name, hook, error: errorText(error) })
      }
    }
  }
}

/** Timeout of a plugin's setup. Without it, a service that does not answer would block the boot and every later reload. */
const SETUP_MS = 60_000

async function setUp(
  instance: PluginInstance,
  source: GenerationSource,
  services: Pick<Facilities, 'service' | 'providerOf'>,
): Promise<void> {
  const { plugin } = instance
  const { clock } = source.facilities
  source.settings.enter(instance, source.fileSettings)
  try {
    const scope = pluginScope(instance, { ...source.facilities, ...services })
    const undo = await withTimeout(clock, SETUP_MS, plugin.definition.setup(scope, instance.options))
    if (typeof undo === 'function') instance.undo.push(undo)
  } catch (error) {
    throw new Error(`The plugin \`${plugin.name}\` could not be set up: ${wordsOf(error)}`, { cause: error })
  } finally {
    instance.phase = 'running'
  }
}

function refuseDuplicates(instances: readonly PluginInstance[]): void {
  const names = new Set<string>()
  for (const { plugin } of instances) {
    if (names.has(plugin.name)) throw new Error(`The plugin \`${plugin.name}\` is listed twice.`)
    names.add(plugin.name)
  }
}

/** Returns the plugins to carry over: same definition, same options, and every plugin whose services they use is carried over as well. */
function carriedOver(
  wanted: readonly PluginInstance[],
  previous: Generation | null,
  services: ReadonlyMap<string, unknown>,
): Map<string, PluginInstance> {
  const kept = new Map<string, PluginInstance>()
  for (const instance of wanted) {
    const old = previous?.instances.find((candidate) => candidate.plugin.name === instance.plugin.name)
    const stale = [...(old?.uses ?? [])].some(
      (token) => services.has(token) && services.get(token) !== previous?.services.get(token),
    )
    if (old && !stale && old.plugin.definition === instance.plugin.definition && sameOptions(old.options, instance.options))
      kept.set(old.plugin.name, old)
  }
  for (let changed = true; changed; ) {
    changed = false
    for (const [name, instance] of kept) {
      const providers =
        previous?.instances.filter((other) => [...other.provides.keys()].some((token) => instance.uses.has(token))) ?? []
      if (providers.some((provider) => kept.get(provider.plugin.name) !== provider)) {
        kept.delete(name)
        changed = true
      }
    }
  }
  return kept
}

/**
 * Yields plugins in the given order, but required ones (by plugin name or service token) first. It is lazy, because tokens appear while
 * plugins are set up.
 */
function* setupOrder(
  wanted: readonly PluginInstance[],
  kept: ReadonlyMap<string, PluginInstance>,
  service: (token: string) => unknown,
  built: readonly PluginInstance[],
): Generator<PluginInstance> {
  const waiting = [...wanted]
  const ready = (instance: PluginInstance): boolean =>
    instance.plugin.requires.every((need) => built.some((done) => done.plugin.name === need) || service(need) !== undefined)
  while (waiting.length > 0) {
    const index = waiting.findIndex(ready)
    if (index === -1) throw new Error(unmet(waiting, wanted, kept))
    yield waiting.splice(index, 1)[0] as PluginInstance
  }
}

function unmet(
  waiting: readonly PluginInstance[],
  wanted: readonly PluginInstance[],
  kept: ReadonlyMap<string, PluginInstance>,
): string {
  const names = new Set(wanted.map((instance) => instance.plugin.name))
  for (const { plugin } of waiting) {
    const missing = plugin.requires.find(
      (need) => !names.has(need) && ![...kept.values()].some((instance) => instance.provides.has(need)),
    )
    if (missing !== undefined)
      return `The plugin \`${plugin.name}\` requires \`${missing}\`, which is neither a plugin of this configuration nor a service one of them provides.`
  }
  return `These plugins require each other in a circle: ${waiting.map(({ plugin }) => plugin.name).join(', ')}.`
}
