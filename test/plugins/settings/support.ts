// A plugin with settings of every kind, and what it saw of them.
import { z } from 'zod'
import { definePlugin } from '../../../core/plugins/define.ts'
import type { Plugin } from '../../../core/types/plugin/plugin.ts'

export interface Knobs {
  plugin: Plugin
  /** What the watchers were told, in order. */
  readonly told: [string, unknown][]
  /** What the plugin reads now. */
  get(key: string): unknown
}

const schemas = {
  'access_log.bodies': z.boolean().default(false),
  'access_log.sample': z.number().min(0).max(1).default(1),
  'buffer.size': z.int().min(1).default(1024).meta({ env: 'LIVE_EVENT_BUFFER' }),
  'cache.ttl': z.enum(['5m', '1h']).default('5m'),
  reviewers: z.array(z.string()).default([]),
  clients: z.record(z.string(), z.strictObject({ id: z.string(), scopes: z.array(z.string()).default([]) })).default({}),
}

export function knobs(): Knobs {
  const told: [string, unknown][] = []
  let read: (key: string) => unknown = () => undefined
  const definition = definePlugin({
    name: 'knobs',
    settings: schemas,
    setup(gateway) {
      read = (key) => gateway.settings.get(key as keyof typeof schemas)
      for (const key of Object.keys(schemas) as (keyof typeof schemas)[])
        gateway.settings.watch(key, (value) => void told.push([key, value]))
    },
  })
  return { plugin: definition(), told, get: (key) => read(key) }
}

export const DEFAULTS = {
  buffer: { size: 1024 },
  cache: { ttl: '5m' },
  clients: {},
  access_log: { bodies: false, sample: 1 },
  reviewers: [],
}

declare module '../../../core/config/define.ts' {
  interface ConfigSettings {
    'cache.ttl': string
    'access_log.bodies': boolean
  }
}
