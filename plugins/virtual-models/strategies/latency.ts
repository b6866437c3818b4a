// `latency_based`: fastest first. A target without measurements counts as the fastest and goes first among equals, so that it gets
// measured.
import { rotated } from './rotation.ts'

/** @param turn asked for only when several are about equally quick. */
export function byLatency<T>(list: readonly T[], latencyOf: (one: T) => number | null, buffer: number, turn: () => number): T[] {
  const measured = list.map((one) => ({ one, ms: latencyOf(one) }))
  const best = Math.min(...measured.map(({ ms }) => ms ?? Number.POSITIVE_INFINITY))
  if (best === Number.POSITIVE_INFINITY && buffer === 0) return [...list]
  const sorted = measured
    .map(({ one, ms }) => ({ one, ms: ms ?? best, known: ms === null ? 0 : 1 }))
    .sort((a, b) => (a.ms === b.ms ? a.known - b.known : a.ms - b.ms))
  if (buffer === 0) return sorted.map(({ one }) => one)
  const quick = sorted.filter(({ ms }) => ms <= best * (1 + buffer))
  const alike = quick.length > 1 ? rotated(quick, turn()) : quick
  return [...alike, ...sorted.slice(quick.length)].map(({ one }) => one)
}
