// Numbers the events of all processes, and hands each to every process. Without listeners the processes publish nothing.
import type { Clock, Timer } from '../../../core/types/ports/ports.ts'

/** A client that comes back within this time finds what it missed. */
const LINGER_MS = 3_600_000
const LOOK_MS = 60_000

export interface Feeds {
  /** Returns the number of the channel's next event. */
  want(name: string, channel: number): number
  publish(name: string, channel: number, data: unknown): void
  /** Names of the feeds that processes publish to now. */
  wanted(): readonly string[]
  close(): void
}

export interface FeedsOptions {
  readonly clock: Clock
  event(name: string, channel: number, number: number, data: unknown): void
  /** Called when processes should begin or stop to publish. */
  demand(name: string, wanted: boolean): void
}

export function feedTable({ clock, event, demand }: FeedsOptions): Feeds {
  const until = new Map<string, number>()
  const numbers = new Map<string, number>()
  let timer: Timer | null = null

  const look = (): void => {
    const now = clock.monotonic()
    for (const [name, end] of until) {
      if (end > now) continue
      until.delete(name)
      demand(name, false)
    }
    if (until.size > 0) return
    timer?.cancel()
    timer = null
  }
  // The wall clock advances faster than events are numbered, so numbers of an earlier gateway are smaller.
  const next = (key: string): number => numbers.get(key) ?? clock.now()

  return {
    want(name, channel) {
      const fresh = !until.has(name)
      until.set(name, clock.monotonic() + LINGER_MS)
      if (fresh) demand(name, true)
      timer ??= clock.every(LOOK_MS, look)
      const key = `${name} ${channel}`
      const number = next(key)
      numbers.set(key, number)
      return number
    },
    publish(name, channel, data) {
      if (!until.has(name)) return
      const key = `${name} ${channel}`
      const number = next(key)
      numbers.set(key, number + 1)
      event(name, channel, number, data)
    },
    wanted: () => [...until.keys()],
    close: () => timer?.cancel(),
  }
}
