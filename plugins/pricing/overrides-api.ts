// /api/pricing/overrides: an organization's own prices, read and replaced as a whole.
import { z } from 'zod'
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { overrideRecord, overrideRecordOf, overridesBody, overridesOf } from './override-fields.ts'
import { type OverrideRows, replaceOverrides } from './overrides.ts'

const list = z.strictObject({ data: z.array(overrideRecord) })

export function overrideRoutes(gateway: PluginGateway, view: View<OverrideRows>): void {
  const shown = (orgId: number | null) => ({ data: (view.current.get(orgId ?? 0) ?? []).map(overrideRecordOf) })

  gateway.api({
    method: 'GET',
    path: '/api/pricing/overrides',
    summary: 'Prices that hold whatever the rate card says.',
    response: list,
    handler: ({ orgId }) => shown(orgId),
  })

  gateway.api({
    method: 'PUT',
    path: '/api/pricing/overrides',
    summary:
      'Replaces all of them, or none when one is wrong. The exact model string counts before globs, the longest glob before others.',
    body: overridesBody,
    response: list,
    audit: 'pricing.overrides',
    async handler({ body, orgId, operator, audited }) {
      const overrides = overridesOf(body)
      await view.write((db) => replaceOverrides(db, orgId, overrides, operator.actor, gateway.clock.now()))
      audited('overrides', { count: overrides.length })
      return shown(orgId)
    },
  })
}
