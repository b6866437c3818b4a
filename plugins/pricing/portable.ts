// Exports and imports price overrides.
import type { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { PortableKind } from '../../core/types/plugin/portable.ts'
import type { View } from '../../core/types/ports/db.ts'
import type { Json } from '../../core/types/request/canonical.ts'
import { overrideBody, overrideRecordOf, overridesOf } from './api/overrides.ts'
import { allOverrides, type OverrideRows, replaceOverrides } from './overrides.ts'

/** An import adds and changes overrides; it removes none. */
export function portableOverrides(gateway: PluginGateway, view: View<OverrideRows>): PortableKind<z.output<typeof overrideBody>> {
  return {
    kind: 'price_overrides',
    after: [],
    schema: overrideBody,
    secrets: [],
    view: view as View<unknown>,
    async rows(orgId) {
      return (view.current.get(orgId ?? 0) ?? []).map((override) => ({
        name: override.pattern.toLowerCase(),
        managedBy: 'api' as const,
        data: overrideRecordOf(override) as Record<string, Json>,
        secrets: {},
      }))
    },
    async write({ db, orgId, actor, data }) {
      const standing = (await allOverrides(db)).get(orgId ?? 0) ?? []
      const [override] = overridesOf({ data: [data] })
      if (override === undefined) return null
      const at = standing.findIndex(({ pattern }) => pattern.toLowerCase() === override.pattern.toLowerCase())
      const next = at === -1 ? [...standing, override] : standing.map((one, index) => (index === at ? override : one))
      await replaceOverrides(db, orgId, next, actor, gateway.clock.now())
      return null
    },
  }
}
