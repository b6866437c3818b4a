// Anthropic's unified headers of subscriptions: how much of each window is used, and whether the whole is refused. A window
// that is full does not refuse while the account pays for more, so the overall word comes before the windows'.
import { count, type RateLimitHeader, resetAt } from './rate-limit-header.ts'
import type { QuotaWindow } from './service.ts'

/** @param said by header name between `anthropic-ratelimit-` and the last word: `unified`, `unified-5h`. */
export function unifiedWindows(said: ReadonlyMap<string, RateLimitHeader>, now: number): QuotaWindow[] {
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

/** `7d_opus` is the week of the models with that word in their names. */
function modelOf(name: string): string | null {
  const family = /^\d+[hd][_-]([a-z0-9]+)$/.exec(name)?.[1]
  return family === undefined ? null : `*${family}*`
}
