// Quota windows out of the rate-limit headers of an answer: the OpenAI family's
// `x-ratelimit-*`, Anthropic's per key, and Anthropic's unified ones of subscriptions.
import { RATE_LIMIT_MAX_MS } from '../../core/errors/retry-hint.ts'
import type { HeaderBag } from '../../core/types/ports.ts'
import { count, type RateLimitHeader, resetAt } from './rate-limit-header.ts'
import type { QuotaWindow } from './service.ts'
import { unifiedWindows } from './unified-windows.ts'

const FAMILY = /^(?:x-)?ratelimit-(limit|remaining|reset)(?:-([a-z0-9_-]{1,60}))?$/
const ANTHROPIC = /^anthropic-ratelimit-([a-z0-9_-]{1,60}?)-(limit|remaining|reset|status|utilization)$/
/** A vendor has a handful. */
const MAX_WINDOWS = 20

/** @param model that was called: what a vendor counts by model, it says of this one. */
export function headerWindows(headers: HeaderBag, model: string, now: number): QuotaWindow[] {
  const said = collected(headers)
  if (said === null) return []
  const windows: QuotaWindow[] = []
  for (const [key, values] of said.limits) {
    const window = limitWindow(key, values, model, now)
    if (window !== null) windows.push(window)
  }
  return [...windows, ...unifiedWindows(said.unified, now)].slice(0, MAX_WINDOWS)
}

interface Collected {
  readonly limits: ReadonlyMap<string, RateLimitHeader>
  readonly unified: ReadonlyMap<string, RateLimitHeader>
}

/** null: none of them is there, as on most answers of most vendors. */
function collected(headers: HeaderBag): Collected | null {
  const list = headers.flat()
  let found: { limits: Map<string, RateLimitHeader>; unified: Map<string, RateLimitHeader> } | null = null
  for (let i = 0; i < list.length; i += 2) {
    const name = (list[i] as string).toLowerCase()
    if (!name.includes('ratelimit-')) continue
    const family = FAMILY.exec(name)
    const anthropic = family === null ? ANTHROPIC.exec(name) : null
    const key = family === null ? anthropic?.[1] : (family[2] ?? '')
    if (key === undefined) continue
    found ??= { limits: new Map(), unified: new Map() }
    const group = anthropic !== null && key.startsWith('unified') ? found.unified : found.limits
    const values = group.get(key) ?? {}
    values[(family?.[1] ?? anthropic?.[2]) as keyof RateLimitHeader] = list[i + 1] as string
    group.set(key, values)
  }
  return found
}

function limitWindow(key: string, said: RateLimitHeader, model: string, now: number): QuotaWindow | null {
  const unit = key === '' || key.includes('request') ? 'requests' : key.includes('token') ? 'tokens' : null
  const remaining = count(said.remaining)
  if (unit === null || remaining === null) return null
  const limit = count(said.limit)
  const resetsAt = resetAt(said.reset, now)
  return {
    name: key === '' ? 'requests' : key,
    unit,
    // Without a name of its own it is the key's.
    model: key === '' ? null : model,
    used: limit === null || limit < remaining ? null : limit - remaining,
    limit,
    remaining,
    resetsAt,
    // The border of the retry hints: what fills up again within the hour is a rate.
    exhausted: remaining === 0 && resetsAt !== null && resetsAt - now > RATE_LIMIT_MAX_MS,
  }
}
