// Exports and imports settings that were changed at run time: those of the gateway, or of one organization.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { changesOf } from './document.ts'
import { type AllStored, allSettings, storeSettings } from './store.ts'

const data = z.strictObject({ key: z.string().min(1).max(200), value: z.unknown() })

export function portableSettings(gateway: PluginGateway, view: View<AllStored>): PortableKind<z.output<typeof data>> {
  const registry = gateway.use('settings')
  return {
    kind: 'settings',
    after: [],
    schema: data.refine(({ value }) => value !== undefined && value !== null, { path: ['value'], error: 'must be a value' }),
    secrets: [],
    view: view as View<unknown>,
    async rows(orgId) {
      const { gateway: own, organizations } = view.current
      return Object.entries((orgId === null ? own : organizations.get(orgId)) ?? {}).map(([key, value]) => ({
        name: key,
        managedBy: 'api' as const,
        data: { key, value: value as Json },
        secrets: {},
      }))
    },
    async write({ db, orgId, actor, data: { key, value } }) {
      const changer = { orgId, role: orgId === null ? 'system' : 'manage' } as const
      const changes = changesOf({ [key]: value }, registry.declared(orgId), await allSettings(db), changer)
      await storeSettings(db, changes, { actor, now: gateway.clock.now() })
      return null
    },
  }
}
