// /api/settings: the runtime layer over file and environment, and above it the values that organizations changed for themselves.
import { z } from 'zod'
import { definePlugin } from '../../core/plugins/define.ts'
import type { DeclaredSetting } from '../../core/services.ts'
import type { Operator } from '../../core/types/operator.ts'
import { type Changer, changesOf, documentOf, ownerOf } from './document.ts'
import { portableSettings } from './portable.ts'
import type { RuntimeSettingsService } from './service.ts'
import { type AllStored, allSettings, migrations, storeSettings } from './store.ts'

const document = z.record(z.string(), z.unknown())
// Not a record: that would silently drop a member named `__proto__`.
const body = z
  .unknown()
  .meta({ type: 'object' })
  .refine((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'give an object')
const sources = z.record(
  z.string(),
  z.strictObject({
    source: z.enum(['default', 'config', 'env', 'runtime', 'organization']),
    pinned: z.boolean(),
    scope: z.enum(['gateway', 'organization']).describe('`organization`: each organization may have a value of its own.'),
  }),
)

export const settings = definePlugin({
  name: 'settings',
  migrations,
  async setup(gateway) {
    const registry = gateway.use('settings')
    const view = await gateway.view('runtime', allSettings)
    const layer = registry.layer()
    const take = ({ gateway, organizations }: AllStored): void => layer.set(gateway, organizations)
    take(view.current)
    view.watch(take)
    const shownTo = (operator: Operator): readonly DeclaredSetting[] =>
      registry.declared(operator.orgId).filter((setting) => mayRead(operator, setting))

    /** Returns the changed keys. */
    const change = async (body: object, changer: Changer, actor: string): Promise<string[]> => {
      const write = () =>
        view.write(async (db) => {
          const changes = changesOf(body, registry.declared(changer.orgId), await allSettings(db), changer)
          await storeSettings(db, changes, { actor, now: gateway.clock.now() })
          return [...changes.keys()]
        })
      // Inside an organization, an administrator of the gateway may change values of both.
      return (changer.role === 'system' ? gateway.detached(write) : write)()
    }

    const runtimeSettings: RuntimeSettingsService = {
      stored(orgId, key) {
        const { gateway, organizations } = view.current
        return (ownerOf(registry.declared(orgId), key, orgId) === null ? gateway : organizations.get(orgId as number))?.[key]
      },
      change: async (key, value, changer, actor) => void (await change({ [key]: value ?? null }, changer, actor)),
    }
    gateway.provide('runtimeSettings', runtimeSettings)

    gateway.portable(portableSettings(gateway, view))
    gateway.api({
      method: 'GET',
      path: '/api/settings',
      summary:
        'Every setting with the value that holds now: in an organization, for that one. Callers without the role `system` do not see those for it.',
      role: 'member',
      response: document,
      handler: ({ operator }) => documentOf(shownTo(operator)),
    })

    gateway.api({
      method: 'GET',
      path: '/api/settings/sources',
      summary:
        'Says for each setting, by dotted key, where its value comes from, whether gateway.config.ts pins it, and whether an organization may change it.',
      role: 'member',
      response: sources,
      handler: ({ operator }) =>
        Object.fromEntries(shownTo(operator).map(({ key, source, pinned, scope }) => [key, { source, pinned, scope }])),
    })

    gateway.api({
      method: 'PUT',
      path: '/api/settings',
      summary:
        'Changes settings, nested or by dotted key; null resets a setting to the inherited value. In an organization: its own values, of the settings that may differ.',
      role: 'manage',
      body,
      response: document,
      audit: 'settings.update',
      async handler({ body, operator, audited }) {
        const changed = await change(body as object, operator, operator.actor)
        audited(changed.join(', ').slice(0, 200) || '-')
        return documentOf(shownTo(operator))
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
