// Reads quota windows from the rate-limit headers of an answer: `x-ratelimit-*` of the OpenAI family, Anthropic's per key, and
// Anthropic's unified ones for subscriptions.
import { durationMs, RATE_LIMIT_MAX_MS } from '../../core/errors/retry-hint.ts'
import type { HeaderBag } from '../../core/types/ports/ports.ts'
import type { QuotaWindow } from './service.ts'

const FAMILY = /^(?:x-)?ratelimit-(limit|remaining|reset)(?:-([a-z0-9_-]{1,60}))?$/
const ANTHROPIC = /^anthropic-ratelimit-([a-z0-9_-]{1,60}?)-(limit|remaining|reset|status|utilization)$/
/** A vendor has a few windows. */
const MAX_WINDOWS = 20

// The header values of one window.
type RateLimitHeader = Partial<Record<'limit' | 'remaining' | 'reset' | 'status' | 'utilization', string>>

const MAX_AHEAD_MS = 31 * 24 * 3_600_000

/** Azure sends -1 for unknown values. */
function count(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : null
}

/** Reads a duration, seconds, epoch seconds, epoch ms or a date, by its form and size. */
function resetAt(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const plain = count(text)
  const ahead = plain === null || plain < 1e6 ? durationMs(text) : null
  const at = ahead !== null ? now + ahead : plain === null ? Date.parse(text) : plain < 1e11 ? plain * 1000 : plain
  return Number.isFinite(at) && at >= now && at - now <= MAX_AHEAD_MS ? Math.round(at) : null
}

/** @param said by the part of the header name between `anthropic-ratelimit-` and the last word: `unified`, `unified-5h`. */
function unifiedWindows(said: ReadonlyMap<string, RateLimitHeader>, now: number): QuotaWindow[] {
  const overall = said.get('unified')
  const refused = overall?.status === undefined ? null : overall.status === 'rejected'
  const windows: QuotaWindow[] = []
  for (const [key, values] of said) {
    const name = key.slice('unified-'.length)
    const share = count(values.utilization)
    if (name === '' || share === null) continue
    const used = Math.round(share * 1000) / 10
    const full = values.status === undefined ? share >= 1 : values.status === 'rejected'
    windows.push({
      ...percent(name, used, resetAt(values.reset, now)),
      model: modelOf(name),
      exhausted: refused !== false && full,
    })
  }
  if (refused === true && !windows.some(({ exhausted }) => exhausted))
    windows.push({ ...percent('unified', 100, resetAt(overall?.reset, now)), model: null, exhausted: true })
  return windows
}

function percent(name: string, used: number, resetsAt: number | null) {
  return { name, unit: 'percent' as const, used, limit: 100, remaining: Math.max(0, 100 - used), resetsAt }
}

/** `7d_opus` is the weekly window of models with that word in their names. */
function modelOf(name: string): string | null {
  const family = /^\d+[hd][_-]([a-z0-9]+)$/.exec(name)?.[1]
  return family === undefined ? null : `*${family}*`
}

/** @param model the called model: counts per model belong to it. */
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

/** Returns null when none of them is present, as in most answers. */
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
    // A window without a name belongs to the key.
    model: key === '' ? null : model,
    used: limit === null || limit < remaining ? null : limit - remaining,
    limit,
    remaining,
    resetsAt,
    // The same limit as for retry hints: a window that resets within an hour is a rate limit.
    exhausted: remaining === 0 && resetsAt !== null && resetsAt - now > RATE_LIMIT_MAX_MS,
  }
}
