// Judges live events by the words of the filter box (core/text/log-filter.ts).
import type { LiveEvent } from '../../api/live.ts'

/** Returns the text with a pair added, or without it where it is there. */
export function toggled(text: string, name: string, value: string): string {
  const pair = /\s/.test(value) ? `${name}:"${value.replaceAll('"', '')}"` : `${name}:${value}`
  const padded = ` ${text.trim()} `
  return (padded.includes(` ${pair} `) ? padded.replace(` ${pair} `, ' ') : `${padded}${pair}`).trim()
}

/** Returns whether the text has the pair. */
export function has(text: string, name: string, value: string): boolean {
  return toggled(text, name, value).length < text.trim().length
}

/** Parameters that only the log can judge, because events lack what they compare. */
const LOG_ONLY = ['key_id', 'session_id', 'user_id', 'cost_center', 'q']

/** Applies the filter to an event. `unknown`: all that the event has fits, and the log must judge the rest. */
export function matches(event: LiveEvent, query: Readonly<Record<string, string>>): boolean | 'unknown' {
  if (!fits(event, query)) return false
  return LOG_ONLY.every((name) => query[name] === undefined) || 'unknown'
}

function fits(event: LiveEvent, query: Readonly<Record<string, string>>): boolean {
  const among = (value: string | null, wanted: string | undefined): boolean =>
    wanted === undefined || (value !== null && wanted.split(',').includes(value))
  return (
    among(event.provider, query.provider) &&
    among(event.model, query.model) &&
    among(event.virtual_model, query.virtual_model) &&
    among(event.source, query.source) &&
    (query.status === undefined || query.status.split(',').some((one) => hasStatus(event.status, one))) &&
    (query.cached === undefined || String(event.cached) === query.cached) &&
    (query.min_latency_ms === undefined || event.latency_ms >= Number(query.min_latency_ms)) &&
    (query.min_cost_usd === undefined || (event.cost.cost_usd ?? 0) >= Number(query.min_cost_usd))
  )
}

function hasStatus(status: number, wanted: string): boolean {
  if (wanted === 'error') return status >= 400
  return /^\dxx$/.test(wanted) ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted)
}
