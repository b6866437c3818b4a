// Measures event-loop delay and heap use. A served gateway accepts new requests by them.
import { getHeapStatistics } from 'node:v8'
import type { HostedGateway } from '../../../core/gateway.ts'
import type { Clock, Timer } from '../../../core/types/ports/ports.ts'

export interface PressureLimits {
  /** ms; 0 = not measured. */
  readonly loopDelayMs: number
  /** Percent of the heap's limit; 0 = not measured. */
  readonly heapPercent: number
}

const EVERY_MS = 100
/** The median of this many samples applies: one long garbage collection is not overload. */
const SAMPLES = 5
/**
 * Batches are refused at half the delay, and earlier by the heap as well. From there on, other requests are refused in turns that are
 * equally late.
 */
const BATCH_DELAY = 0.5
const BATCH_HEAP = 10
/** The queue of connections is overload when it was not empty for this many times the delay. Until then it is a burst. */
const QUEUE_DELAYS = 5
/** Overload by the queue ends this long after the queue was last late. */
const QUEUE_CALM_MS = 1000
/** One request in this many is accepted while the queue is late. Without it, a queue that refusals cannot empty would stop all work. */
const ACCEPTED_OF = 16

/** @param queueMs how long new connections have been waiting in the kernel. @param heapUsed percent, for tests. */
export function watchPressure(
  gateway: Pick<HostedGateway, 'overload'>,
  limits: () => PressureLimits,
  clock: Clock,
  queueMs: () => number,
  heapUsed: () => number = heapUsedPercent,
): Timer {
  const delays: number[] = []
  let queueLateAt: number | null = null
  let refused = 0
  let due = clock.monotonic() + EVERY_MS
  gateway.overload.isLate = () => {
    const { loopDelayMs } = limits()
    if (loopDelayMs === 0) return false
    if (clock.monotonic() - due > loopDelayMs * BATCH_DELAY) return true
    return queueMs() > loopDelayMs * BATCH_DELAY && ++refused % ACCEPTED_OF !== 0
  }
  return clock.every(EVERY_MS, () => {
    const now = clock.monotonic()
    delays.push(Math.max(0, now - due))
    if (delays.length > SAMPLES) delays.shift()
    due = now + EVERY_MS
    const { loopDelayMs, heapPercent } = limits()
    const delay = delays.length < SAMPLES ? 0 : (delays.toSorted((a, b) => a - b)[SAMPLES >> 1] as number)
    const heap = heapPercent > 0 ? heapUsed() : 0
    const over = (delayShare: number, heapBefore: number): boolean =>
      (loopDelayMs > 0 && delay > loopDelayMs * delayShare) || (heapPercent > 0 && heap > heapPercent - heapBefore)
    const queue = queueMs()
    if (queue > loopDelayMs * (queueLateAt === null ? QUEUE_DELAYS : BATCH_DELAY)) queueLateAt = now
    else if (queueLateAt !== null && now - queueLateAt > QUEUE_CALM_MS) queueLateAt = null
    const queueIsLate = loopDelayMs > 0 && queueLateAt !== null
    gateway.overload.level = over(1, 0) ? 2 : queueIsLate || over(BATCH_DELAY, BATCH_HEAP) ? 1 : 0
  })
}

function heapUsedPercent(): number {
  const { used_heap_size, heap_size_limit } = getHeapStatistics()
  return (100 * used_heap_size) / heap_size_limit
}
