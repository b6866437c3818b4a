// Manages the settings of all plugins over changing sources: declarations, current values and watchers.
import type { ZodType } from 'zod'
import {
  differsByOrganization,
  type OwnSettings,
  resolveOwn,
  resolveSetting,
  type SettingEntry,
  type SettingSource,
  type StoredSettings,
} from '../config/settings.ts'
import { groupsOf, settingsIn } from '../config/settings-document.ts'
import { GatewayError } from '../errors/gateway-error.ts'
import type { DeclaredSetting, OrganizationFile, RuntimeSettings, SettingsService } from '../services.ts'
import { errorText } from '../text/error-text.ts'
import { catchRejection } from '../timing/catch-rejection.ts'
import type { Plugin } from '../types/plugin/plugin.ts'
import type { Logger } from '../types/ports/ports.ts'
import type { PluginInstance } from './instance.ts'
import { sameOptions } from './options.ts'

export type FileSettings = Omit<SettingSource, 'runtime'>

interface Followed {
  /** The file that the plugin was set up with, or last received. */
  readonly file: FileSettings
  /** Keys whose stored value was already reported as invalid. */
  readonly ignored: Set<string>
}

interface Layer {
  values: StoredSettings
  /** Values that organizations changed for themselves. */
  organizations: ReadonlyMap<number, StoredSettings>
}

const NONE: ReadonlyMap<number, StoredSettings> = new Map()
const NO_OWN: ReadonlyMap<number, ReadonlyMap<string, unknown>> = new Map()

export class SettingsRegistry implements SettingsService {
  readonly #log: Logger
  readonly #following = new Map<PluginInstance, Followed>()
  /** The last layer is current. During a reload there are two. */
  readonly #layers: Layer[] = []
  /** Values that the file gives to organizations; the last one is current. */
  readonly #organizationFiles: { values: ReadonlyMap<number, StoredSettings> }[] = []

  constructor(log: Logger) {
    this.#log = log
  }

  /** Adds a plugin: it reads the current values and follows changes. @throws Error naming the setting that does not fit. */
  enter(instance: PluginInstance, file: FileSettings): void {
    const followed = { file, ignored: new Set<string>() }
    for (const [key, schema] of schemasOf(instance.plugin)) instance.settings.set(key, this.#value(key, schema, followed))
    instance.ownSettings = this.#own(instance, followed)
    this.#following.set(instance, followed)
  }

  leave(instance: PluginInstance): void {
    this.#following.delete(instance)
  }

  /** Checks these plugins against a new file and returns the function that applies it. @throws Error as enter does. */
  prepare(instances: readonly PluginInstance[], file: FileSettings): () => void {
    for (const { plugin } of instances) for (const [key, schema] of schemasOf(plugin)) this.#resolve(key, schema, file)
    return () => {
      for (const instance of instances) this.#following.set(instance, { file, ignored: new Set() })
      this.#refresh()
    }
  }

  layer(): RuntimeSettings {
    const layer: Layer = { values: {}, organizations: NONE }
    this.#layers.push(layer)
    return {
      set: (values, organizations = NONE) => {
        layer.values = values
        layer.organizations = organizations
        this.#refresh()
      },
      end: () => this.#end(this.#layers, layer),
    }
  }

  organizationFile(): OrganizationFile {
    const file: { values: ReadonlyMap<number, StoredSettings> } = { values: NONE }
    this.#organizationFiles.push(file)
    return {
      set: (values) => {
        file.values = values
        this.#refresh()
      },
      end: () => this.#end(this.#organizationFiles, file),
    }
  }

  #end<T>(list: T[], one: T): void {
    const at = list.indexOf(one)
    if (at !== -1) list.splice(at, 1)
    this.#refresh()
  }

  declared(orgId: number | null = null): readonly DeclaredSetting[] {
    const own = this.#ofOrganization(orgId)
    const byKey = new Map<string, DeclaredSetting>()
    for (const [{ plugin }, { file }] of this.#following) {
      for (const [key, schema] of schemasOf(plugin)) {
        // During a reload a plugin may be listed twice: the serving one comes first.
        if (byKey.has(key)) continue
        const differs = differsByOrganization(schema)
        const entry = this.#resolve(key, schema, file)
        byKey.set(key, {
          plugin: plugin.name,
          key,
          schema,
          scope: differs ? 'organization' : 'gateway',
          ...(differs ? resolveOwn(key, schema, entry, own) : entry),
        })
      }
    }
    return [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  #ofOrganization(orgId: number | null): OwnSettings {
    if (orgId === null) return { file: {}, stored: {} }
    return {
      file: this.#organizationFiles.at(-1)?.values.get(orgId) ?? {},
      stored: this.#layers.at(-1)?.organizations.get(orgId) ?? {},
    }
  }

  #resolve(key: string, schema: ZodType, file: FileSettings): SettingEntry {
    return resolveSetting(key, schema, { ...file, runtime: this.#layers.at(-1)?.values ?? {} })
  }

  #value(key: string, schema: ZodType, followed: Followed): unknown {
    return this.#checked(this.#resolve(key, schema, followed.file), key, followed)
  }

  /** Warns once about a stored value that does not fit. */
  #checked(entry: SettingEntry, key: string, { ignored }: Followed, orgId: number | null = null): unknown {
    const name = orgId === null ? key : `${orgId} ${key}`
    if (entry.ignored === undefined) ignored.delete(name)
    else if (!ignored.has(name)) {
      ignored.add(name)
      this.#log.warn('setting.ignored', { key, reason: entry.ignored, ...(orgId !== null && { orgId }) })
    }
    return entry.value
  }

  /** Values of organizations for the settings of one plugin. An organization without any is absent. */
  #own({ plugin }: PluginInstance, followed: Followed): ReadonlyMap<number, ReadonlyMap<string, unknown>> {
    const stored = this.#layers.at(-1)?.organizations ?? NONE
    const inFile = this.#organizationFiles.at(-1)?.values ?? NONE
    if (stored.size === 0 && inFile.size === 0) return NO_OWN
    const organizations = new Set([...stored.keys(), ...inFile.keys()])
    const found = new Map<number, Map<string, unknown>>()
    for (const [key, schema] of schemasOf(plugin)) {
      if (!differsByOrganization(schema)) continue
      const below = this.#resolve(key, schema, followed.file)
      for (const orgId of organizations) {
        const entry = resolveOwn(key, schema, below, this.#ofOrganization(orgId))
        if (entry === below) continue
        const value = this.#checked(entry, key, followed, orgId)
        if (entry.ignored !== undefined) continue
        const values = found.get(orgId) ?? new Map<string, unknown>()
        found.set(orgId, values.set(key, value))
      }
    }
    return found
  }

  /** All values change before any watcher runs, because a watcher may read other settings. */
  #refresh(): void {
    const told: (() => void)[] = []
    for (const [instance, followed] of this.#following) {
      for (const [key, schema] of schemasOf(instance.plugin)) {
        const value = this.#value(key, schema, followed)
        if (sameOptions(value, instance.settings.get(key))) continue
        instance.settings.set(key, value)
        instance.settingsVersion++
        for (const watcher of instance.watchers.get(key) ?? [])
          told.push(() => this.#tell(instance, key, () => watcher(value, null)))
      }
      this.#refreshOwn(instance, followed, told)
    }
    for (const tell of told) tell()
  }

  #refreshOwn(instance: PluginInstance, followed: Followed, told: (() => void)[]): void {
    const before = instance.ownSettings
    const now = this.#own(instance, followed)
    instance.ownSettings = now
    for (const orgId of new Set([...before.keys(), ...now.keys()])) {
      for (const key of new Set([...(before.get(orgId)?.keys() ?? []), ...(now.get(orgId)?.keys() ?? [])])) {
        const [was, is] = [before.get(orgId), now.get(orgId)]
        if (was?.has(key) === is?.has(key) && sameOptions(was?.get(key), is?.get(key))) continue
        instance.settingsVersion++
        const value = is?.has(key) ? is.get(key) : instance.settings.get(key)
        for (const watcher of instance.watchers.get(key) ?? [])
          told.push(() => this.#tell(instance, key, () => watcher(value, orgId)))
      }
    }
  }

  #tell(instance: PluginInstance, key: string, watcher: () => void): void {
    const failed = (error: unknown) =>
      this.#log.error('setting.watcher_failed', { plugin: instance.plugin.name, key, error: errorText(error) })
    try {
      catchRejection(watcher(), failed)
    } catch (error) {
      failed(error)
    }
  }
}

/**
 * Returns the file's settings for these plugins, by dotted key. @throws Error naming a setting that no plugin declares, or that two
 * plugins declare.
 */
export function settingsOfFile(plugins: readonly Plugin[], document: object): Record<string, unknown> {
  const owners = new Map<string, string>()
  for (const plugin of plugins) {
    for (const [key] of schemasOf(plugin)) {
      const other = owners.get(key)
      if (other !== undefined)
        throw new Error(`The plugins \`${other}\` and \`${plugin.name}\` both declare the setting \`${key}\`.`)
      owners.set(key, plugin.name)
    }
  }
  for (const [key, plugin] of owners) {
    const inside = groupsOf(key).find((group) => owners.has(group))
    if (inside !== undefined)
      throw new Error(
        `The setting \`${key}\` of the plugin \`${plugin}\` lies inside the setting \`${inside}\` of \`${owners.get(inside)}\`.`,
      )
  }
  try {
    return Object.fromEntries(settingsIn(document, new Set(owners.keys())))
  } catch (error) {
    if (!GatewayError.is(error)) throw error
    throw new Error(`The configuration is wrong:\n  settings.${error.param}: ${error.message}`)
  }
}

function schemasOf(plugin: Plugin): [string, ZodType][] {
  return Object.entries((plugin.definition.settings ?? {}) as Record<string, ZodType>)
}
