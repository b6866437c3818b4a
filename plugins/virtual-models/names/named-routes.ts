// GATEWAY_ROUTES: named candidate lists, cheapest first. An invalid entry is logged and skipped.
import { z } from 'zod'
import { WORDED } from '../../../core/text/issue-text.ts'
import type { Logger } from '../../../core/types/ports/ports.ts'
import { target, virtualModelName } from '../fields.ts'
import { type CompiledModel, PLAIN_CONFIG, type ProviderId, recipeTarget } from '../planning/compiled-model.ts'

const candidates = z.array(target).min(1).max(64)

const entry = z
  .object({
    name: virtualModelName,
    candidates: candidates.optional(),
    models: candidates.optional(),
    targets: candidates.optional(),
    modality: z.enum(['text', 'image']).default('text'),
    /** True: tried in the listed order, whatever the prices are. */
    keep_order: z.boolean().default(false),
  })
  .transform(({ candidates, models, targets, ...rest }) => ({ ...rest, targets: candidates ?? models ?? targets ?? [] }))
  .refine(({ targets }) => targets.length > 0, { path: ['candidates'], message: 'needs at least one `provider/model`' })

export interface RouteSources {
  providerId: ProviderId
  log: Logger
  /** Epoch ms. */
  now: number
}

/** The first entry with a name wins. */
export function namedRoutes(given: unknown, { providerId, log, now }: RouteSources): ReadonlyMap<string, CompiledModel> {
  const routes = new Map<string, CompiledModel>()
  if (given === null || given === undefined) return routes
  if (!Array.isArray(given)) {
    log.error('routes.invalid', { variable: 'GATEWAY_ROUTES', error: 'must be a JSON array of {"name", "candidates"}' })
    return routes
  }
  for (const [index, one] of given.entries()) {
    const { data, error } = entry.safeParse(one, WORDED)
    const issue = error?.issues[0]
    const wrong = issue
      ? `${issue.path.join('.')}: ${issue.message}`
      : routes.has(data?.name ?? '')
        ? 'name: is there already'
        : null
    if (wrong !== null || data === undefined) {
      log.error('routes.invalid_entry', { variable: 'GATEWAY_ROUTES', index, error: wrong })
      continue
    }
    routes.set(data.name, {
      name: data.name,
      id: `route:${data.name}`,
      orgId: null,
      ordering: data.keep_order ? 'failover' : 'listed_price',
      modality: data.modality,
      enabled: true,
      version: '',
      targets: data.targets.filter(({ enabled }) => enabled).map((target) => recipeTarget(target, providerId)),
      config: PLAIN_CONFIG,
      createdAt: now,
    })
  }
  return routes
}
