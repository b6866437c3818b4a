// Parses every vendor's retry hint: headers first, then body, then text. A hint over an hour means a quota, not a rate; impossible ones
// are ignored.
import { decodeUtf8 } from '../text/bytes.ts'
import type { HeaderBag } from '../types/ports/ports.ts'

const SECOND = 1000
const MAX_MS = 31 * 24 * 3600 * SECOND

export const RATE_LIMIT_MAX_MS = 3600 * SECOND

/** Returns the milliseconds that the upstream wants us to wait, at least 1 s and at most 31 days; null without a usable hint. */
export function retryHint(headers: HeaderBag, body: Uint8Array, now: number): number | null {
  const date = Date.parse(headers.get('date') ?? '')
  const reference = Number.isNaN(date) ? now : date
  return (
    usableDelay(number(headers.get('retry-after-ms'))) ??
    usableDelay(retryAfter(headers.get('retry-after'), reference)) ??
    usableDelay(resetPair(headers)) ??
    usableDelay(anthropicReset(headers, now)) ??
    usableDelay(bodyHint(body, now)) ??
    usableDelay(resetByMagnitude(headers.get('x-ratelimit-reset'), now))
  )
}

/** "6m0s", "120ms", "1h2m", "26.5s", "3" (seconds) → ms. */
export function durationMs(text: string): number | null {
  const plain = number(text)
  if (plain !== null) return plain * SECOND
  const units: Record<string, number> = { ms: 1, s: SECOND, m: 60 * SECOND, h: 3600 * SECOND, d: 86_400 * SECOND }
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)]
  if (pieces.length === 0 || pieces.map((piece) => piece[0]).join('') !== text.trim()) return null
  return pieces.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit as string] as number), 0)
}

/** Returns a usable retry delay, at least 1 s; null for an impossible value. */
export function usableDelay(ms: number | null): number | null {
  if (ms === null || !Number.isFinite(ms) || ms < 0 || ms > MAX_MS) return null
  return Math.max(SECOND, Math.round(ms))
}

function number(text: string | null): number | null {
  return text !== null && /^\s*-?\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null
}

function retryAfter(text: string | null, reference: number): number | null {
  if (text === null) return null
  const seconds = number(text)
  if (seconds !== null) return seconds * SECOND
  const date = Date.parse(text)
  // A date in the past means "now".
  return Number.isNaN(date) ? null : Math.max(0, date - reference)
}

function resetPair(headers: HeaderBag): number | null {
  let longest: number | null = null
  for (const kind of ['requests', 'tokens']) {
    // Only an empty bucket shows when to retry. Azure's -1 and 0 carry no information.
    if (number(headers.get(`x-ratelimit-remaining-${kind}`)) !== 0) continue
    const reset = durationMs(headers.get(`x-ratelimit-reset-${kind}`) ?? '')
    if (reset !== null && reset > 0) longest = Math.max(longest ?? 0, reset)
  }
  return longest
}

function anthropicReset(headers: HeaderBag, now: number): number | null {
  let longest: number | null = null
  for (const [name, value] of headers) {
    const kind = /^anthropic-ratelimit-(.+)-reset$/.exec(name)?.[1]
    if (kind === undefined || number(headers.get(`anthropic-ratelimit-${kind}-remaining`)) !== 0) continue
    const at = Date.parse(value)
    if (!Number.isNaN(at)) longest = Math.max(longest ?? 0, at - now)
  }
  return longest
}

function resetByMagnitude(text: string | null, now: number): number | null {
  const value = number(text)
  if (value === null) return null
  if (value < 1e6) return value * SECOND
  return (value < 1e11 ? value * SECOND : value) - now
}

function bodyHint(bytes: Uint8Array, now: number): number | null {
  if (bytes.length === 0 || bytes.length > 65_536) return null
  const body = decodeUtf8(bytes)
  const delay = /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(body)?.[1]
  if (delay !== undefined) return Number(delay) * SECOND
  const inSeconds = /"resets_in_seconds"\s*:\s*([\d.]+)/.exec(body)?.[1]
  if (inSeconds !== undefined) return Number(inSeconds) * SECOND
  const at = /"resets_at"\s*:\s*("?)([^",}\s]+)\1/.exec(body)?.[2]
  if (at !== undefined) {
    const ms = number(at) !== null ? resetByMagnitude(at, now) : Date.parse(at) - now
    if (ms !== null && !Number.isNaN(ms)) return ms
  }
  const text = /(?:try again|retry|resets?)\s+in\s+((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)(?![a-z])\s*)+)/i.exec(body)?.[1]
  if (text !== undefined) return durationMs(text.replaceAll(/\s/g, ''))
  const words = /(?:try again|retry)\s+(?:in|after)\s+(\d+(?:\.\d+)?)\s*(second|minute|hour)/i.exec(body)
  if (words === null) return null
  return (
    Number(words[1]) *
    ({ second: SECOND, minute: 60 * SECOND, hour: 3600 * SECOND }[(words[2] as string).toLowerCase()] as number)
  )
}
