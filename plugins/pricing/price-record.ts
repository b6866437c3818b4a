// Answer of GET /api/pricing/resolve. Unknown members are absent.
import { z } from 'zod'
import type { TieredPrices, TokenPrices } from '../../core/types/prices.ts'
import { percentMoved } from './decimal.ts'
import { mediaPrices } from './media.ts'
import { TOKEN_KINDS, usdOf } from './price-names.ts'
import type { Resolved } from './resolver.ts'
import type { MediaWish } from './service.ts'
import type { DriftRow } from './store.ts'

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

export const priceRecord = z.strictObject({
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

export function priceRecordOf(
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
