// The one server tool that is mapped across dialects: web search in its common form → this vendor's tool.
import type { CanonicalRequest, Frozen, JsonObject } from '../../../../core/types/canonical.ts'
import { isObject } from '../../shared/fields.ts'
import type { Block } from '../response/block.ts'

export function webSearchTool(search: Frozen<NonNullable<CanonicalRequest['webSearch']>>): Block {
  const location = userLocation(search.userLocation)
  const allowed = search.allowedDomains ?? []
  const blocked = search.blockedDomains ?? []
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(search.maxUses === undefined ? {} : { max_uses: search.maxUses }),
    // Only one of the two lists is accepted.
    ...(allowed.length > 0 ? { allowed_domains: allowed } : blocked.length > 0 ? { blocked_domains: blocked } : {}),
    ...(location === null ? {} : { user_location: location }),
  }
}

/** chat nests the place under `approximate`, responses and this API do not. */
function userLocation(value: unknown): JsonObject | null {
  if (!isObject(value)) return null
  const place = isObject(value.approximate) ? value.approximate : value
  const known = ['city', 'region', 'country', 'timezone'].filter((key) => typeof place[key] === 'string')
  if (known.length === 0) return null
  return { type: 'approximate', ...Object.fromEntries(known.map((key) => [key, place[key] as string])) }
}
