// The settings of a gateway's plugins over one changing source: what they declared, what holds now, who watches.
import type { ZodType } from 'zod'
import { resolveSetting, type SettingEntry, type SettingSource } from '../config/settings.ts'
import type { DeclaredSetting, SettingsService } from '../services.ts'
import type { Logger } from '../types/ports.ts'
import { sameOptions } from './define.ts'
import type { PluginInstance } from './instance.ts'

export class SettingsRegistry implements SettingsService {
  readonly #log: Logger
  readonly #instances = new Set<PluginInstance>()
  #source: SettingSource

  constructor(log: Logger) {
    this.#log = log
    this.#source = { file: {}, env: () => undefined, runtime: {} }
  }

  /** A plugin is set up: it reads what holds now, and follows. @throws Error naming the setting that does not fit. */
  enter(instance: PluginInstance, file: FileSettings): void {
    for (const [key, schema] of schemasOf(instance)) instance.settings.set(key, this.#resolve(key, schema, file).value)
    this.#instances.add(instance)
  }

  leave(instance: PluginInstance): void {
    this.#instances.delete(instance)
  }

  /** What carried-over plugins would read under a new file; returns what makes it so. @throws as enter. */
  prepare(file: FileSettings): () => void {
    const changes = [...this.#instances].map((instance) => this.#changes(instance, { ...file, runtime: this.#source.runtime }))
    return () => {
      this.#source = { ...file, runtime: this.#source.runtime }
      for (const change of changes) change()
    }
  }

  apply(runtime: Readonly<Record<string, unknown>>): void {
    this.#source = { ...this.#source, runtime }
    for (const instance of this.#instances) this.#changes(instance, this.#source)()
  }

  declared(): readonly DeclaredSetting[] {
    return [...this.#instances]
      .flatMap((instance) =>
        schemasOf(instance).map(([key, schema]) => ({
          plugin: instance.plugin.name,
          key,
          schema,
          ...this.#resolve(key, schema, this.#source),
        })),
      )
      .sort((a, b) => (a.key < b.key ? -1 : 1))
  }

  #resolve(key: string, schema: ZodType, file: FileSettings): SettingEntry {
    const entry = resolveSetting(key, schema, { ...file, runtime: this.#source.runtime })
    if (entry.ignored !== undefined) this.#log.warn('setting.ignored', { key, reason: entry.ignored })
    return entry
  }

  #changes(instance: PluginInstance, source: SettingSource): () => void {
    const changed = schemasOf(instance)
      .map(([key, schema]) => [key, resolveSetting(key, schema, source).value] as const)
      .filter(([key, value]) => !sameOptions(value, instance.settings.get(key)))
    return () => {
      for (const [key, value] of changed) {
        instance.settings.set(key, value)
        for (const watcher of instance.watchers.get(key) ?? []) watcher(value)
      }
    }
  }
}

export type FileSettings = Omit<SettingSource, 'runtime'>

function schemasOf(instance: PluginInstance): [string, ZodType][] {
  return Object.entries((instance.plugin.definition.settings ?? {}) as Record<string, ZodType>)
}
