// GET /api/pricing/resolve: what one model costs, or a page of all that something is known of.
import { z } from 'zod'
import type { View } from '../../core/types/db.ts'
import type { PluginGateway } from '../../core/types/plugin.ts'
import { priceRecord, priceRecordOf } from './price-record.ts'
import type { Resolver } from './resolver.ts'
import type { Stored } from './stored.ts'

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
    summary: 'What models cost, and who says so.',
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
