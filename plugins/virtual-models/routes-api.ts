// GET /api/routes: the names that are no rows: GATEWAY_ROUTES and `auto`, with the targets that they try now.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { AutoModel } from './names/auto.ts'
import { AUTO, type CompiledModel } from './planning/compiled-model.ts'

const route = z.strictObject({
  name: z.string(),
  kind: z.enum(['route', 'auto']),
  ordering: z
    .enum(['listed', 'cheapest', 'ranked'])
    .describe('How targets are ordered: as listed, by list price, by health, quota, price and latency.'),
  modality: z.enum(['text', 'image']),
  shadowed: z.boolean().describe('true: a virtual model has this name and answers instead.'),
  targets: z.array(z.string()).describe('In their order; of `auto` the best five.'),
})

export function namedRoutesApi(
  gateway: PluginGateway,
  {
    routes,
    auto,
    isRow,
  }: {
    routes: ReadonlyMap<string, CompiledModel>
    auto: Pick<AutoModel, 'shown'>
    isRow(orgId: number | null, name: string): boolean
  },
): void {
  gateway.api({
    method: 'GET',
    path: '/api/routes',
    summary: 'The names of GATEWAY_ROUTES and `auto`, with the targets that they try now.',
    role: 'member',
    response: z.strictObject({ data: z.array(route) }),
    handler({ orgId }) {
      const shown = ({ name, ordering, modality, targets }: CompiledModel, kind: 'route' | 'auto') => ({
        name,
        kind,
        ordering: kind === 'auto' ? ('ranked' as const) : ordering === 'failover' ? ('listed' as const) : ('cheapest' as const),
        modality,
        shadowed: isRow(orgId, name) || (kind === 'auto' && routes.has(AUTO)),
        targets: targets.map(({ id }) => id),
      })
      return { data: [...[...routes.values()].map((one) => shown(one, 'route')), shown(auto.shown(orgId), 'auto')] }
    },
  })
}
