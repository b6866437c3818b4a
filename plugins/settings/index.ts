// /api/settings: the runtime layer over file and environment.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { DeclaredSetting } from '../../core/services.ts'
import type { Operator } from '../../core/types/operator.ts'
import { changesOf, documentOf } from './document.ts'
import { portableSettings } from './portable.ts'
import { migrations, storedSettings, storeSettings } from './store.ts'

const document = z.record(z.string(), z.unknown())
// Not a record: that would silently drop a member named `__proto__`.
const body = z
  .unknown()
  .meta({ type: 'object' })
  .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'give an object')
const sources = z.record(
  z.string(),
  z.strictObject({ source: z.enum(['default', 'config', 'env', 'runtime']), pinned: z.boolean() }),
)

export const settings = definePlugin({
  name: 'settings',
  migrations,
  async setup(gateway) {
    const registry = gateway.use('settings')
    const view = await gateway.view('runtime', storedSettings)
    const layer = registry.layer()
    layer.set(view.current)
    view.watch((runtime) => layer.set(runtime))

    gateway.provide('runtimeSettings', {
      stored: (key) => view.current[key],
      async change(key, value, actor) {
        await view.write(async (db) => {
          const changes = changesOf({ [key]: value ?? null }, registry.declared(), await storedSettings(db))
          await storeSettings(db, changes, actor, gateway.clock.now())
        })
      },
    })

    gateway.portable(portableSettings(gateway, view))
    gateway.api({
      method: 'GET',
      path: '/api/settings',
      summary: 'Every setting with the value that holds now; without those for the role `system`, for other callers.',
      role: 'member',
      response: document,
      handler: ({ operator }) => documentOf(registry.declared().filter((setting) => mayRead(operator, setting))),
    })

    gateway.api({
      method: 'GET',
      path: '/api/settings/sources',
      summary: 'Says for each setting, by dotted key, where its value comes from and whether gateway.config.ts pins it.',
      role: 'system',
      response: sources,
      handler: () => Object.fromEntries(registry.declared().map(({ key, source, pinned }) => [key, { source, pinned }])),
    })

    gateway.api({
      method: 'PUT',
      path: '/api/settings',
      summary: 'Changes settings, nested or by dotted key; null gives a setting back to file and environment.',
      // The settings belong to the whole gateway, not to an organization.
      role: 'system',
      body,
      response: document,
      audit: 'settings.update',
      async handler({ body, operator, audited }) {
        const changed = await view.write(async (db) => {
          const changes = changesOf(body as object, registry.declared(), await storedSettings(db))
          await storeSettings(db, changes, operator.actor, gateway.clock.now())
          return [...changes.keys()]
        })
        audited(changed.join(', ').slice(0, 200) || '-')
        return documentOf(registry.declared())
      },
    })

    return () => layer.end()
  },
})

/** A setting whose schema has `.meta({ role: 'system' })` names other organizations, or addresses inside the operator's network. */
function mayRead({ role }: Operator, { schema }: DeclaredSetting): boolean {
  return role === 'system' || schema.meta()?.role !== 'system'
}

export default settings
