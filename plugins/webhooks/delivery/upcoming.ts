// The attempts that are still to come in a delivery's schedule.
import { TEST_EVENT } from '../events/catalog.ts'
import { OFFSETS_MS } from './delivery.ts'
import type { DeliveryRow } from './store.ts'

/** Returns epoch ms of each attempt that follows unless one succeeds; an empty list when the delivery has ended. */
export function upcomingAttempts({ status, attempts, first_attempt_at, next_attempt_at, event_type }: DeliveryRow): number[] {
  if (status !== 'pending' || next_attempt_at === null) return []
  if (event_type === TEST_EVENT) return [next_attempt_at]
  const first = first_attempt_at ?? next_attempt_at
  return [next_attempt_at, ...OFFSETS_MS.slice(attempts).map((offset) => Math.max(first + offset, next_attempt_at))]
}
