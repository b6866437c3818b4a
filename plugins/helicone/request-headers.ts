// Reads Helicone's request headers (properties, options, credential) and writes its answer headers.

import type { Services } from '../../core/types/plugin/plugin.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { FallbackState } from './fallbacks.ts'
import { namesIn } from './headers.ts'
import type { RatePolicy } from './rate-policy.ts'
import { requestIdIn } from './request-ids.ts'
import type { RetryPolicy } from './retry.ts'

const MAX_PROPERTIES = 32
const MAX_NAME = 64
const MAX_VALUE = 512
const PREFIX = 'helicone-property-'

/** Labels by header name without the prefix; a dash becomes an underscore. */
const LABELS: ReadonlySet<string> = new Set([
  ...['session-path', 'session-name', 'prompt-id', 'prompt-version', 'prompt-mode', 'prompt-name', 'prompt-format'],
  ...['node-id', 'job-id', 'experiment-id', 'experiment-column-id', 'experiment-row-index'],
  // Only a label: the requested model is the one that is called and billed.
  'model-override',
])
const COST_CENTER = /^[\x20-\x7e]{1,128}$/

/** The caller's own properties come last: when there are too many, those are dropped. null: none. */
export function propertiesIn(headers: HeaderBag): Record<string, string> | null {
  const own: [string, string][] = []
  const labels: [string, string][] = []
  for (const name of namesIn(headers)) {
    const value = headers.get(name)?.trim() ?? ''
    if (value === '' || value.length > MAX_VALUE) continue
    const label = name.slice('helicone-'.length)
    if (name.startsWith(PREFIX)) {
      const property = name.slice(PREFIX.length)
      if (property !== '' && property.length <= MAX_NAME) own.push([property, value])
    } else if (LABELS.has(label)) labels.push([label.replaceAll('-', '_'), value])
  }
  // Also a label, so that a duplicate id can be found.
  const id = requestIdIn(headers)
  if (id !== null) labels.push(['request_id', id])
  const kept = [...labels, ...own].slice(0, MAX_PROPERTIES)
  return kept.length === 0 ? null : Object.fromEntries(kept)
}

/** The reader of `x-gateway-cost-center` decides whether a header may set it. */
export function costCenterIn(headers: HeaderBag): string | null {
  const value = headers.get('helicone-property-cost-center') ?? headers.get('helicone-property-costcenter')
  return value !== null && COST_CENTER.test(value.trim()) ? value.trim() : null
}

// Options from a request's Helicone headers, for later stages.
export interface Asked extends FallbackState {
  /** The caller's own id of the request. */
  readonly requestId: string | null
  readonly retry: RetryPolicy | null
  readonly rate: RatePolicy | null
  readonly targetUrl: string | null
  readonly streamUsage: boolean
  /** The provider of the target URL, when the URL selected it. */
  chosen: string | null
}

// When `Helicone-Auth` holds one of the gateway's keys and `Authorization` does not, it identifies the caller. Helicone's own keys are
// ignored.
export function adoptKey(headers: HeaderBag, keys: Pick<Services['keys'], 'find'>): void {
  const key = bearerOf(headers.get('helicone-auth'))
  if (key === null || keys.find(key) === null) return
  const presented = bearerOf(headers.get('authorization'))
  if (presented !== null && keys.find(presented) !== null) return
  headers.set('authorization', `Bearer ${key}`)
}

function bearerOf(value: string | null): string | null {
  if (value === null || !/^bearer\s/i.test(value)) return null
  const key = value.slice(7).trim()
  return key === '' ? null : key
}

// Sets headers for callers that sent any of Helicone's: the request's id and the cache result.
export function answerHeaders(ctx: RequestContext, caches: () => Services['exactCache'] | undefined): void {
  ctx.responseHeaders.set('helicone-id', ctx.id)
  ctx.tap(({ status }) => {
    const lookup = caches()?.lookup(ctx) ?? null
    if (status !== 200 || (lookup === null && ctx.cached === false)) return
    ctx.responseHeaders.set('helicone-cache', ctx.cached === false ? 'MISS' : 'HIT')
    if (lookup !== null) ctx.responseHeaders.set('helicone-cache-bucket-idx', String(lookup.bucketIndex))
  })
}
