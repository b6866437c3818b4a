// The time of the gateway, as its answers tell it. The clock of this computer may be wrong, and every point in time that a page shows or asks
// for is of the gateway.
import { signal } from '@preact/signals'

/** A `Date` header has whole seconds: the gateway's clock showed this much more at most. */
const WHOLE_MS = 1000

/** Bounds in ms of how far the gateway's clock is ahead of this computer's. */
export interface Ahead {
  readonly least: number
  readonly most: number
}

/** Returns what one answer tells, from the epoch ms of its call and its arrival; null: its date cannot be read. */
export function aheadBy(date: string | null, sentAt: number, arrivedAt: number): Ahead | null {
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? null : { least: at - arrivedAt, most: at + WHOLE_MS - sentAt }
}

/** Each answer narrows the bounds. One that contradicts them was sent after one of the clocks was set, so it begins anew. */
export function narrowed(known: Ahead | null, told: Ahead): Ahead {
  const least = Math.max(known?.least ?? told.least, told.least)
  const most = Math.min(known?.most ?? told.most, told.most)
  return least <= most ? { least, most } : told
}

/** Clocks that may agree do. */
export function middle({ least, most }: Ahead): number {
  return least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2)
}

let bounds: Ahead | null = null

/** ms to add to the clock of this computer. */
export const offset = signal(0)

/** Epoch ms of the gateway's clock. */
export function gatewayTime(): number {
  return Date.now() + offset.peek()
}

/** A fetch that reads the gateway's time from each answer. */
export async function timedFetch(request: Request): Promise<Response> {
  const sentAt = Date.now()
  const response = await fetch(request)
  const told = aheadBy(response.headers.get('date'), sentAt, Date.now())
  if (told !== null) {
    bounds = narrowed(bounds, told)
    offset.value = middle(bounds)
  }
  return response
}
