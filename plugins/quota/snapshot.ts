// Merges an account's quota from answers and from the provider's usage API.
import { globMatch } from '../../core/text/glob.ts'
import type { QuotaReading, QuotaWindow } from './service.ts'

export type Source = 'api' | 'headers' | 'error'

export interface KeptWindow extends QuotaWindow {
  readonly from: 'api' | 'headers'
  /** Epoch ms. */
  readonly heardAt: number
}

export interface Snapshot {
  readonly plan: string | null
  readonly windows: readonly KeptWindow[]
  readonly source: Source
  /** Epoch ms. */
  readonly fetchedAt: number
  /** Error of the last query. */
  readonly error: string | null
}

/** A limit, because callers choose models and each may have its own windows. */
const MAX_WINDOWS = 60
/** Wait for an exhausted account without a known reset time. */
const WITHOUT_RESET_MS = 3_600_000

/** How long a window without an end applies: headers describe about a minute, and usage APIs are queried every five. */
const FRESH_MS = { headers: 60_000, api: 600_000 }

export function withHeaders(before: Snapshot | undefined, windows: readonly QuotaWindow[], now: number): Snapshot {
  return {
    plan: before?.plan ?? null,
    windows: merged(before?.windows ?? [], kept(windows, 'headers', now)),
    source: 'headers',
    fetchedAt: now,
    error: null,
  }
}

/** Replaces all windows from the API: one that it no longer reports is removed. */
export function withReading(before: Snapshot | undefined, reading: QuotaReading, now: number): Snapshot {
  return {
    plan: reading.plan ?? before?.plan ?? null,
    windows: merged(
      (before?.windows ?? []).filter(({ from }) => from !== 'api'),
      kept(reading.windows, 'api', now),
    ),
    source: 'api',
    fetchedAt: now,
    error: null,
  }
}

/** Keeps the known values and adds the error. */
export function withError(before: Snapshot | undefined, error: string, now: number): Snapshot {
  return { plan: before?.plan ?? null, windows: before?.windows ?? [], source: 'error', fetchedAt: now, error }
}

/** Returns for each model glob (null: the whole account) the epoch ms until which it is exhausted, by the windows that have not ended. */
export function exhaustions({ windows }: Snapshot, now: number): Map<string | null, number> {
  const until = new Map<string | null, number>()
  for (const { exhausted, model, resetsAt } of windows) {
    if (exhausted && resetsAt !== null && resetsAt > now) until.set(model, Math.max(until.get(model) ?? 0, resetsAt))
  }
  return until
}

/**
 * Returns the epoch ms until which a rate limit of requests or tokens is used up; null: something remains. @param model null: of any
 * model.
 */
export function rateResetsAt({ windows }: Snapshot, model: string | null, now: number): number | null {
  let until: number | null = null
  for (const window of windows) {
    const { from, unit, remaining, resetsAt } = window
    if (from !== 'headers' || unit === 'percent' || remaining !== 0 || resetsAt === null || resetsAt <= now) continue
    if (model === null || window.model === null || globMatch(window.model, model)) until = Math.max(until ?? 0, resetsAt)
  }
  return until
}

/** Returns the remaining fraction of the tightest active window for the model, 0 to 1; null: there is none. */
export function remainingFraction({ windows }: Snapshot, model: string, now: number): number | null {
  let least: number | null = null
  for (const window of windows) {
    const { remaining, limit, resetsAt, from, heardAt } = window
    const holds = resetsAt === null ? now - heardAt <= FRESH_MS[from] : resetsAt > now
    if (!holds || (window.model !== null && !globMatch(window.model, model))) continue
    const share = shareOf(remaining, limit)
    if (share !== null) least = Math.min(least ?? 1, share)
  }
  return least
}

function shareOf(remaining: number | null, limit: number | null): number | null {
  if (remaining === null) return null
  if (remaining <= 0) return 0
  return limit === null || limit <= 0 ? null : Math.min(1, remaining / limit)
}

function kept(windows: readonly QuotaWindow[], from: KeptWindow['from'], now: number): KeptWindow[] {
  return windows.map((window) => {
    const resetsAt = window.resetsAt ?? (window.exhausted ? now + WITHOUT_RESET_MS : null)
    return { ...window, resetsAt, from, heardAt: now }
  })
}

/** The newest is last; the oldest are removed. */
function merged(old: readonly KeptWindow[], fresh: readonly KeptWindow[]): KeptWindow[] {
  const same = (a: QuotaWindow, b: QuotaWindow) => a.name === b.name && a.model === b.model
  return [...old.filter((window) => !fresh.some((one) => same(one, window))), ...fresh].slice(-MAX_WINDOWS)
}
