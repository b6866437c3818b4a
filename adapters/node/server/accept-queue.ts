// Measures how long the kernel's queue of new connections has not been empty. Node accepts one connection in each turn of the event loop,
// so connections wait there while every turn is short, and the delay of the loop does not show them.
import type { Clock } from '../../../core/types/ports/ports.ts'

export interface AcceptQueue {
  /** Call it for each new connection. Takes constant time. */
  opened(): void
  /** ms since the first of the turns in a row that each brought a connection; 0: the last turn brought none. */
  standingMs(): number
}

export function acceptQueue(clock: Clock): AcceptQueue {
  let since: number | null = null
  let opened = false

  /** Runs after the sockets were read. A turn without a new connection shows that the queue was empty. */
  function endOfTurn(): void {
    if (opened) setImmediate(endOfTurn)
    else since = null
    opened = false
  }

  return {
    opened() {
      opened = true
      if (since !== null) return
      since = clock.monotonic()
      setImmediate(endOfTurn)
    },
    standingMs() {
      return since === null ? 0 : clock.monotonic() - since
    },
  }
}
