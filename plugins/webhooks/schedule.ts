// When a delivery is tried again: offsets from the first attempt.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** After the immediate attempt. */
const OFFSETS_MS = [5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS]
/** Retries that a stopped gateway or a slow endpoint made late are not sent at once, one behind the other. */
const BREATH_MS = 5 * SECOND_MS

/** Epoch ms of the next attempt; null: that was the last. */
export function nextAttempt(firstAttemptAt: number, attempts: number, now: number): number | null {
  const offset = OFFSETS_MS[attempts - 1]
  return offset === undefined ? null : Math.max(firstAttemptAt + offset, now + BREATH_MS)
}
