// A plugin's access to its own settings: the gateway's values, and those of organizations that differ.
import type { ZodType } from 'zod'
import type { PluginGateway } from '../types/plugin/plugin.ts'
import type { PluginInstance } from './instance.ts'

type Settings = PluginGateway<Record<string, ZodType>>['settings']

export function scopedSettings(instance: PluginInstance): Settings {
  const declared = (key: string): void => {
    if (!instance.settings.has(key))
      throw new Error(`The plugin \`${instance.plugin.name}\` reads the setting \`${key}\`, which it did not declare.`)
  }
  const get: Settings['get'] = (key, orgId = null) => {
    declared(key)
    const own = orgId === null ? undefined : instance.ownSettings.get(orgId)
    return (own?.has(key) ? own.get(key) : instance.settings.get(key)) as never
  }
  return {
    get,
    watch: (key, fn) => {
      declared(key)
      instance.watchers.set(key, [...(instance.watchers.get(key) ?? []), fn as (value: unknown, orgId: number | null) => void])
    },
    compiled<T>(compile: (get: (key: string) => never, orgId: number | null) => T) {
      let version = -1
      let common: { readonly value: T } | null = null
      const own = new Map<number, T>()
      const made = (orgId: number | null): T => compile((key) => get(key, orgId) as never, orgId)
      return (orgId) => {
        if (version !== instance.settingsVersion) {
          version = instance.settingsVersion
          common = null
          own.clear()
        }
        if (orgId === null || !instance.ownSettings.has(orgId)) {
          // Requests ask for it many times, so it is in no map.
          common ??= { value: made(null) }
          return common.value
        }
        if (!own.has(orgId)) own.set(orgId, made(orgId))
        return own.get(orgId) as T
      }
    },
  }
}
