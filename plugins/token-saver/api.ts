// /api/token-saver/filters: lists the filters of tool output with their savings.
import { z } from 'zod'
import type { PluginGateway } from '../../core/types/plugin/plugin.ts'
import type { FilterStats } from './filtering.ts'
import { FILTERS } from './filters/list.ts'
import type { Levels } from './levels.ts'
import { MAX_BYTES, MIN_BYTES } from './shorten.ts'
import { CAVEMAN_LEVELS, PONYTAIL_LEVELS } from './texts.ts'

const filter = z.strictObject({
  id: z.string(),
  order: z.int(),
  enabled: z.boolean().describe('Of its own; nothing is filtered while filters are off altogether.'),
  title: z.string(),
  description: z.string(),
  detects: z.string(),
  limits: z.record(z.string(), z.int()),
  stats: z.strictObject({ hits: z.int(), bytes_saved: z.int() }).describe('Since this process started.'),
})

const answer = z.strictObject({
  enabled: z.boolean(),
  min_bytes: z.int().describe('Shorter outputs are left alone.'),
  max_bytes: z.int().describe('Longer outputs are left alone.'),
  data: z.array(filter),
  caveman_level: z.enum(CAVEMAN_LEVELS).nullable(),
  ponytail_level: z.enum(PONYTAIL_LEVELS).nullable(),
})

export interface FilterState {
  /** The settings of an organization; null: the gateway's own. */
  of(orgId: number | null): { readonly filters: boolean; readonly disabled: ReadonlySet<string>; readonly levels: Levels }
  stats(orgId: number | null, filter: string): Readonly<FilterStats>
}

export function filtersApi(gateway: PluginGateway, state: FilterState): void {
  gateway.api({
    method: 'GET',
    path: '/api/token-saver/filters',
    summary: 'The filters that shorten tool output, in their order',
    role: 'member',
    query: z.strictObject({}),
    response: answer,
    handler: ({ orgId }) => {
      const { filters, disabled, levels } = state.of(orgId)
      return {
        enabled: filters,
        min_bytes: MIN_BYTES,
        max_bytes: MAX_BYTES,
        data: FILTERS.map(({ id, title, description, detects, limits }, index) => ({
          id,
          order: index + 1,
          enabled: !disabled.has(id),
          title,
          description,
          detects,
          limits: { ...limits },
          stats: { ...state.stats(orgId, id) },
        })),
        caveman_level: levels.caveman,
        ponytail_level: levels.ponytail,
      }
    },
  })
}
