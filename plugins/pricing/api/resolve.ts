// GET /api/pricing/resolve: the price of one model, or a page of all known models.
import { z } from 'zod'
import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { View } from '../../../core/types/ports/db.ts'
import type { TieredPrices, TokenPrices } from '../../../core/types/ports/prices.ts'
import { TOKEN_KINDS, usdOf } from '../cards/price-names.ts'
import { percentMoved } from '../decimal.ts'
import type { Resolved, Resolver } from '../resolver.ts'
import type { MediaWish } from '../service.ts'
import type { DriftRow, Stored } from '../store.ts'
import { mediaPrices } from '../token-cost.ts'

const part = z.string().min(1, 'must not be empty').max(256)
const query = z.strictObject({
  model: part.optional().describe('A model string. Without it: a page of all models.'),
  size: z
    .string()
    .regex(/^\d{1,5}x\d{1,5}$/, 'must be a size such as 1024x1024')
    .optional(),
  quality: part.optional().describe('Of an image, with `model`: `hd`.'),
  q: part.optional().describe('Part of the model string, any case.'),
  provider: part.optional().describe('Id or alias.'),
  drift: z
    .enum(['true', 'false'])
    .optional()
    .describe('`true`: those whose price has moved, and the change is not reviewed yet.'),
  cursor: part.optional().describe('`next_cursor` of the page before.'),
  limit: z.coerce.number('must be a whole number').int('must be a whole number').min(1).max(200).default(50),
})

// The answer's schema. Unknown members are absent.
const usd = z.number().min(0).optional()
const tokenKinds = Object.fromEntries(Object.keys(TOKEN_KINDS).map((name) => [name, usd])) as Record<
  keyof typeof TOKEN_KINDS,
  typeof usd
>
const tier = z.strictObject({ above: z.int(), ...tokenKinds })
const tiers = z.array(tier).optional().describe('Of a whole call whose prompt has more than `above` tokens.')
const service = z.strictObject({ ...tokenKinds, tiers }).optional()

const prices = z.strictObject({
  ...tokenKinds,
  unit: z.literal('per_1m_tokens'),
  tiers,
  batch: service,
  priority: service,
  flex: service,
  per_image_usd: usd.describe('Of the size and quality asked for.'),
  per_second_usd: usd,
  per_character_usd: usd,
  per_query_usd: usd,
  per_page_usd: usd,
  per_web_search_usd: usd,
})

const priceRecord = z.strictObject({
  model: z.string(),
  provider: z.string().nullable(),
  prices,
  source: z.enum(['override', 'primary', 'fallback', 'builtin', 'none']),
  matched_key: z.string().nullable().describe('The override’s pattern, or the name under which the rate card has it.'),
  ref: z
    .string()
    .nullable()
    .describe('The rate card’s version reference; null where no card says the price, or the card has none.'),
  price_ref: z
    .string()
    .nullable()
    .describe('As it stands on usage rows: `primary:<run>` and `fallback:<run>` are runs of `GET /api/pricing/runs/{id}`.'),
  fetched_at: z.string().nullable(),
  stale_since: z.string().nullable().describe('Since when the rate card has not had all of it any more.'),
  drift: z
    .strictObject({ flagged: z.literal(true), pct: z.number(), field: z.string(), detected_at: z.string() })
    .nullable()
    .describe('The largest change that is not reviewed.'),
})

function priceRecordOf(
  model: string,
  resolved: Resolved | null,
  drift: readonly DriftRow[],
  wish: MediaWish,
): z.input<typeof priceRecord> {
  if (resolved === null) return { ...NOTHING, model }
  const { price, list, source, matchedKey, ref, version, fetchedAt, staleSince, provider } = resolved
  const { perImage, perSecond, perCharacter, perQuery, perPage } = mediaPrices(list, wish)
  const units = {
    per_image: perImage,
    per_second: perSecond,
    per_character: perCharacter,
    per_query: perQuery,
    per_page: perPage,
    per_web_search: price?.webSearch,
  }
  const services = Object.entries(price?.services ?? {}).map(([name, prices]) => [name, tieredOf(prices)])
  return {
    model,
    provider,
    prices: {
      ...(price === undefined ? {} : tieredOf(price)),
      ...Object.fromEntries(services),
      ...Object.fromEntries(
        Object.entries(units).flatMap(([name, nano]) => (nano === undefined ? [] : [[`${name}_usd`, usdOf(name, nano)]])),
      ),
      unit: 'per_1m_tokens',
    },
    source,
    matched_key: matchedKey,
    ref: version,
    price_ref: ref,
    fetched_at: instant(fetchedAt),
    stale_since: instant(staleSince),
    drift: largest(drift),
  }
}

const NOTHING = {
  provider: null,
  prices: { unit: 'per_1m_tokens' as const },
  source: 'none' as const,
  matched_key: null,
  ref: null,
  price_ref: null,
  fetched_at: null,
  stale_since: null,
  drift: null,
}

function tieredOf(price: TieredPrices): z.input<typeof tier> | object {
  const shown = price.tiers?.map((one) => ({ above: one.above, ...kindsOf(one) }))
  return { ...kindsOf(price), ...(shown ? { tiers: shown } : {}) }
}

function kindsOf(price: TokenPrices): Record<string, number> {
  return Object.fromEntries(
    Object.entries(TOKEN_KINDS).flatMap(([name, kind]) => {
      const nano = price[kind]
      return nano === undefined ? [] : [[name, usdOf(name, nano)]]
    }),
  )
}

function largest(rows: readonly DriftRow[]): z.input<typeof priceRecord>['drift'] {
  let found: z.input<typeof priceRecord>['drift'] = null
  for (const { old_nano, new_nano, field, detected_at } of rows) {
    const pct = percentMoved(old_nano, new_nano)
    if (found === null || pct > found.pct) found = { flagged: true, pct, field, detected_at: new Date(detected_at).toISOString() }
  }
  return found
}

export function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

export function resolveRoute(gateway: PluginGateway, view: View<Stored>, resolver: Resolver): void {
  const { providerId } = gateway.use('configuration')
  const catalogue = gateway.optional('modelCatalogue')
  const driftOf = (provider: string, model: string) => view.current.drift.get(`${provider}/${model}`.toLowerCase()) ?? []

  /** Models of the card, and models that only connections offer. */
  const all = (orgId: number | null): string[] => {
    const ids = new Set<string>()
    for (const [provider, models] of view.current.book) for (const { id } of models.values()) ids.add(`${provider}/${id}`)
    for (const { provider, model } of catalogue()?.offered(orgId).all ?? []) ids.add(`${provider}/${model}`)
    return [...ids].sort()
  }

  const one = (orgId: number | null, id: string, wish: { size?: string; quality?: string }) => {
    const slash = id.indexOf('/')
    const provider = slash > 0 ? providerId(id.slice(0, slash)) : ''
    const model = slash > 0 ? id.slice(slash + 1) : id
    const resolved = resolver.resolve(orgId, provider, model)
    if (resolved.source === 'none' && resolved.match === null) return priceRecordOf(id, null, [], wish)
    const named = provider !== '' ? resolved : { ...resolved, provider: resolved.match?.provider ?? '' }
    const { match } = resolved
    const drift = match === null ? [] : driftOf(match.provider, match.entry.id)
    return priceRecordOf(id, named, drift, wish)
  }

  gateway.api({
    method: 'GET',
    path: '/api/pricing/resolve',
    summary: 'Returns the prices of models and the source of each price.',
    role: 'member',
    query,
    response: z.union([priceRecord, z.strictObject({ data: z.array(priceRecord), next_cursor: z.string().nullable() })]),
    handler({ query: { model, size, quality, limit, cursor = '', ...filter }, orgId }) {
      const wish = { ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) }
      if (model !== undefined) return one(orgId, model, wish)
      const q = filter.q?.toLowerCase() ?? ''
      const provider = filter.provider === undefined ? null : `${providerId(filter.provider)}/`
      const found = all(orgId).filter((id) => {
        if (id <= cursor || !id.toLowerCase().includes(q) || (provider !== null && !id.startsWith(provider))) return false
        return filter.drift !== 'true' || view.current.drift.has(id.toLowerCase())
      })
      const page = found.slice(0, limit)
      return {
        data: page.map((id) => one(orgId, id, wish)),
        next_cursor: found.length > limit ? (page.at(-1) ?? null) : null,
      }
    },
  })
}
