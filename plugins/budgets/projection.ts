// Projects a budget's spending to the end of its window at the current rate.
import type { Window } from './window.ts'

const LEAST_ELAPSED = 0.1
const LEAST_REQUESTS = 10

/** Nano-USD; null where it is too early to say. @param requests that it was spent by. */
export function projected(window: Window, spent: number, requests: number, now: number): number | null {
  const { start, end } = window
  if (end === null) return null
  const elapsed = (now - start) / (end - start)
  if (elapsed < LEAST_ELAPSED || elapsed > 1) return null
  if (spent === 0) return 0
  return requests < LEAST_REQUESTS ? null : Math.min(Math.round(spent / elapsed), Number.MAX_SAFE_INTEGER)
}
