// Builds the PluginGateway of one plugin: everything is under the plugin's own prefix, and every registration is recorded on its
// instance.
import type { $Fetch } from 'ofetch'
import type { ZodType } from 'zod'
import { scopedCounters } from '../counters/scoped.ts'
import type { ViewHub } from '../db/views.ts'
import type { EventBus } from '../events/bus.ts'
import { registration } from '../hooks/registry.ts'
import { scopedStorage } from '../kv/scoped-storage.ts'
import type { GatewayHooks, HookName, HookOptions, OperationHookOptions } from '../types/plugin/hooks.ts'
import type { ApiRoute, DataRoute, InvokeOptions, MetricsFactory, PluginGateway } from '../types/plugin/plugin.ts'
import type { PortableKind } from '../types/plugin/portable.ts'
import type { ResourceKind } from '../types/plugin/resource.ts'
import type { Db, TenantWall } from '../types/ports/db.ts'
import type { Clock, Counters, KeyValueStore, Logger, Vault } from '../types/ports/ports.ts'
import type { Siblings } from '../types/ports/siblings.ts'
import type { CanonicalRequest } from '../types/request/canonical.ts'
import type { LiveRequest, RequestContext, Slot } from '../types/request/context.ts'
import type { Result } from '../types/request/result.ts'
import { checkApiRoute, checkDataRoute } from './check.ts'
import { checkPage } from './check-page.ts'
import { checkPanel } from './check-panel.ts'
import type { PluginInstance } from './instance.ts'
import { startJob } from './jobs.ts'
import { scopedSettings } from './scoped-settings.ts'

/** The gateway's parts that all plugins share. */
export interface Facilities {
  readonly http: $Fetch
  readonly internalHttp: $Fetch
  readonly profile: 'local' | 'cloud'
  readonly clock: Clock
  readonly log: Logger
  readonly storage: KeyValueStore
  readonly counters: Counters
  readonly metrics: MetricsFactory
  readonly events: EventBus
  readonly db: Db | undefined
  readonly views: ViewHub | undefined
  readonly detached: TenantWall['detached']
  readonly vault: Vault | undefined
  /** Returns a service of another plugin or of core; undefined when no plugin provides it. */
  service(token: string): unknown
  /** Returns the name of the plugin that provides a service; null for a service of core. */
  providerOf(token: string): string | null
  nextSlot(): number
  invoke(request: CanonicalRequest, options: InvokeOptions): Promise<Result>
  live(): Iterable<LiveRequest>
}

/** Contexts hold plugin state in this array. */
export interface SlotHolder {
  readonly slots: unknown[]
}

// Returns a plugin's vault: it seals under the plugin's own name, so that no other plugin can open the values.
function scopedVault(vault: Vault, plugin: string): Vault {
  return {
    prepare: (orgId) => vault.prepare(orgId),
    seal: (plain, at) => vault.seal(plain, { ...at, table: `${plugin}/${at.table}` }),
    open: (sealed, at) => vault.open(sealed, { ...at, table: `${plugin}/${at.table}` }),
    mac: (purpose, data) => vault.mac(`${plugin}/${purpose}`, data),
    subkey: (purpose) => vault.subkey(`${plugin}/${purpose}`),
  }
}

export function pluginScope(instance: PluginInstance, lent: Facilities): PluginGateway<Record<string, ZodType>> {
  const { name } = instance.plugin
  const inSetup = (call: string): void => {
    if (instance.phase !== 'setup')
      throw new Error(`The plugin \`${name}\` calls gateway.${call}() after its setup: what it takes part in is sealed then.`)
  }
  const living = (call: string): void => {
    if (instance.phase === 'ended') throw new Error(`The plugin \`${name}\` calls gateway.${call}() after its end.`)
  }
  const log = scopedLog(lent.log, name)
  const needs = (what: string, setting: string): never => {
    throw new Error(`The plugin \`${name}\` needs ${what}, and this gateway has none. Set ${setting}.`)
  }
  return {
    profile: lent.profile,
    clock: lent.clock,
    log,
    http: lent.http,
    internalHttp: lent.internalHttp,
    storage: scopedStorage(lent.storage, `plugin:${name}`),
    counters: scopedCounters(lent.counters, `${name}:`),
    metrics: lent.metrics,
    get db(): Db {
      return lent.db ?? needs('a database', 'GATEWAY_DATABASE_URL or GATEWAY_DATA_DIR')
    },
    get vault(): Vault {
      const vault = lent.vault ?? needs('a master key', 'GATEWAY_MASTER_KEY or GATEWAY_DATA_DIR')
      return scopedVault(vault, name)
    },
    detached: lent.detached,
    settings: scopedSettings(instance),
    events: {
      emit: (type, data, at) => lent.events.emit(type, data, at),
      on: (type, fn) => {
        living('events.on')
        instance.undo.push(lent.events.on(type, (data, event) => (instance.listens ? fn(data, event) : undefined)))
      },
    },
    hook: (hook: HookName, fn: GatewayHooks[HookName], options?: HookOptions & Partial<OperationHookOptions>) => {
      inSetup('hook')
      instance.hooks.push(registration(name, hook, fn, options))
    },
    slot: <T>(): Slot<T> => {
      const index = lent.nextSlot()
      return {
        get: (ctx: RequestContext) => (ctx as unknown as SlotHolder).slots[index] as T | undefined,
        set: (ctx: RequestContext, value: T) => {
          ;(ctx as unknown as SlotHolder).slots[index] = value
        },
      }
    },
    provide: (token, service) => {
      inSetup('provide')
      instance.provides.set(token as string, service)
    },
    use: (token) => {
      instance.uses.add(token as string)
      const service = lent.service(token as string)
      const provider = lent.providerOf(token as string)
      const { requires } = instance.plugin
      // Otherwise the order of the list would decide whether the plugin starts.
      if (provider !== null && !requires.some((need) => need === provider || lent.providerOf(need) === provider)) {
        throw new Error(
          `The plugin \`${name}\` uses the service \`${token as string}\` of the plugin \`${provider}\` and does not require it. Write \`requires: ['${token as string}']\`.`,
        )
      }
      if (service === undefined) {
        throw new Error(
          `The plugin \`${name}\` uses the service \`${token as string}\`, which no plugin provides. Name its provider in \`requires\`.`,
        )
      }
      return service as never
    },
    optional: (token) => {
      instance.uses.add(token as string)
      return () => instance.service(token as string) as never
    },
    api: (route) => {
      inSetup('api')
      checkApiRoute(name, route as unknown as ApiRoute)
      instance.api.push(route as unknown as ApiRoute)
    },
    data: (route) => {
      inSetup('data')
      checkDataRoute(name, route as unknown as DataRoute)
      instance.data.push(route as unknown as DataRoute)
    },
    panel: (panel) => {
      inSetup('panel')
      checkPanel(name, panel, instance.api, instance.panels)
      instance.panels.push(panel)
    },
    page: (page) => {
      inSetup('page')
      checkPage(name, page, instance.api, instance.pages)
      instance.pages.push(page)
    },
    view: async (view, load, renew) => {
      const hub = lent.views ?? needs('a database', 'GATEWAY_DATABASE_URL or GATEWAY_DATA_DIR')
      const made = await hub.view(`${name}:${view}`, load, renew)
      instance.undo.push(() => hub.release(made))
      return made
    },
    resource: (kind) => {
      inSetup('resource')
      instance.resources.push(kind as ResourceKind)
    },
    portable: (kind) => {
      inSetup('portable')
      instance.portable.push(kind as PortableKind)
    },
    invoke: lent.invoke,
    live: lent.live,
    every: (job, ms, run, { once = false } = {}) => {
      living('every')
      if (!(ms > 0) || typeof run !== 'function')
        throw new Error(`The job \`${job}\` of the plugin \`${name}\` needs ms above 0, and a function.`)
      const siblings = once ? (lent.service('siblings') as Siblings | undefined) : undefined
      const mine: typeof run = async (signal) => (siblings?.leads === false ? undefined : run(signal))
      instance.jobs.push(startJob({ name: `${name}:${job}`, ms, run: once ? mine : run, clock: lent.clock, log }))
    },
  }
}

function scopedLog(log: Logger, plugin: string): Logger {
  const at = (level: keyof Logger) => (message: string, fields?: object) => log[level](message, { plugin, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
