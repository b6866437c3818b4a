// Compares this machine's clock with the `Date` headers of providers, while the connections are asked.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type Finding, ok, warn } from './finding.ts'

/** A larger difference breaks signed requests and sign-ins, and moves budget windows. */
const TOLERANCE_MS = 5000
/** The header has whole seconds. */
const SECOND_MS = 1000

/** A message of undici about a request. The gateway does not pass on the headers of an answer, so this reads them here. */
interface Published {
  readonly request: { readonly origin: string | URL; readonly method: string }
  /** Names and values in turn. */
  readonly response: { readonly headers: readonly Uint8Array[] }
}

export interface ClockWatch {
  /** Ends the watch. Returns no finding when no provider sent a date. */
  finding(): Finding[]
}

export function watchClocks(now: () => number = Date.now): ClockWatch {
  const sent = new WeakMap<object, number>()
  const differences = new Map<string, number>()
  const asked = (message: unknown): void => void sent.set((message as Published).request, now())
  const answered = (message: unknown): void => {
    const { request, response } = message as Published
    const date = dateOf(response.headers)
    const from = sent.get(request)
    // Only requests to models are sent with POST. An answer to GET may be one that a cache has kept.
    if (request.method !== 'POST' || date === null || from === undefined) return
    differences.set(new URL(request.origin).host, difference(date, from, now()))
  }
  subscribe('undici:request:create', asked)
  subscribe('undici:request:headers', answered)
  return {
    finding() {
      unsubscribe('undici:request:create', asked)
      unsubscribe('undici:request:headers', answered)
      return judged(differences)
    },
  }
}

/** Returns how far this clock is ahead, in ms; 0 for a date between request and answer. */
function difference(date: number, from: number, until: number): number {
  if (date > until) return until - date
  const latest = date + SECOND_MS
  return latest < from ? from - latest : 0
}

function dateOf(headers: readonly Uint8Array[]): number | null {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (String(headers[at]).toLowerCase() !== 'date') continue
    const date = Date.parse(String(headers[at + 1]))
    return Number.isNaN(date) ? null : date
  }
  return null
}

/** The middle one counts, because one provider may have a wrong clock. */
function judged(differences: ReadonlyMap<string, number>): Finding[] {
  const sorted = [...differences].sort(([, a], [, b]) => a - b)
  const [, middle] = sorted[Math.floor(sorted.length / 2)] ?? []
  if (middle === undefined) return []
  const hosts = sorted.length === 1 ? `the Date header of ${sorted[0]?.[0]}` : `the Date headers of ${sorted.length} providers`
  const seconds = Math.max(1, Math.ceil(Math.abs(middle) / SECOND_MS))
  if (Math.abs(middle) <= TOLERANCE_MS) return [ok('clock', `This machine's clock is within ${seconds} s of ${hosts}.`)]
  const side = middle > 0 ? 'ahead of' : 'behind'
  return [
    warn(
      'clock',
      `This machine's clock is ${seconds} s ${side} ${hosts}.`,
      'Set the clock, for example with `timedatectl set-ntp true`: signatures, sign-ins and budget windows go by it.',
    ),
  ]
}
