// GET /api/settings/semantic-cache/routes: shows the state of an organization's routes.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import { precisionOf, type Routes } from './routes.ts'

const shownRoute = z.strictObject({
  route: z.string(),
  key_id: z.int().nullable(),
  threshold: z.number(),
  precision: z.number().nullable(),
  samples: z.int(),
  disabled: z.boolean(),
  hits: z.int(),
  misses: z.int(),
})

export function semanticCacheRoutes(gateway: PluginGateway, routes: Routes): void {
  gateway.api({
    method: 'GET',
    path: '/api/settings/semantic-cache/routes',
    summary: 'Semantic cache: threshold and precision of each model and key, as this process has seen them.',
    role: 'member',
    query: z.strictObject({}),
    response: z.strictObject({ data: z.array(shownRoute) }),
    handler: ({ orgId }) => ({
      data: routes.list(orgId).map((route) => ({
        route: `${route.provider}/${route.model}`,
        key_id: route.keyId,
        threshold: route.threshold,
        precision: precisionOf(route),
        samples: route.ring.length,
        disabled: !routes.usable(route),
        hits: route.hits,
        misses: route.misses,
      })),
    }),
  })
}
