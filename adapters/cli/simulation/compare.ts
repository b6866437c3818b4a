// Compares a simulation with the same requests against the saved configuration.
import type { AttemptLine, RequestLine } from '../../simulation/lines.ts'

export interface FirstDifference {
  /** Number of the request, from 1. */
  readonly request: number
  /** The account that answered, or the status when there was none. */
  readonly saved: string
  readonly now: string
}

/** Returns the first request with another outcome; null when all are the same. */
export function firstDifference(saved: readonly RequestLine[], now: readonly RequestLine[]): FirstDifference | null {
  for (const [index, line] of now.entries()) {
    const before = saved[index]
    if (before === undefined) continue
    const [was, is] = [outcomeOf(before), outcomeOf(line)]
    if (was !== is) return { request: index + 1, saved: was, now: is }
  }
  return null
}

/** Returns `provider/label` of the account that answered; otherwise the status. */
export function outcomeOf({ attempts, status }: RequestLine): string {
  return status < 400 ? (servedBy(attempts) ?? String(status)) : String(status)
}

export function servedBy(attempts: readonly AttemptLine[]): string | null {
  return attempts.findLast(({ skipped, status }) => skipped === null && status !== null && status < 400)?.connection ?? null
}

/** Returns the 95th percentile of the latency, ms. */
export function p95(lines: readonly RequestLine[]): number {
  const sorted = lines.map(({ latency_ms }) => latency_ms).sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0
}
