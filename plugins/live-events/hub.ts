// Holds event rings by organization, and their listeners. One timer serves all listeners; it stops without listeners.
import type { Clock, Timer } from '../../core/types/ports/ports.ts'
import type { Relay } from './relay.ts'
import { Ring, type Told } from './ring.ts'
import { Subscriber } from './subscriber.ts'

export interface HubOptions {
  readonly clock: Clock
  /** Number of stored events of each organization. */
  readonly size: number
  /** Returns true when all listeners must end. */
  draining(): boolean
  /** Set in a worker: events of all workers come through it. */
  readonly relay?: Relay | undefined
  lagged(events: number): void
}

export interface Listening {
  readonly orgId: number | null
  /** The session whose limit this listener counts against. */
  readonly session: string
  /** `Last-Event-ID`, as the client sent it. */
  readonly lastEventId: string | null
  /** Data of the first event. */
  readonly hello: object
  /** Called with every ping: false ends the stream. */
  allowed(): Promise<boolean>
}

const PING_MS = 15_000
const TICK_MS = 1000
/** A reader that reads nothing for this time counts as gone. */
const STALL_MS = 120_000
/** Events that come faster are sent together: a write for each would cost the requests more than the events are worth. */
const BATCH_MS = 40
/** Maximum organizations with stored events; the one that was quiet longest is removed. */
const MAX_RINGS = 1000

export interface Hub {
  readonly subscribers: number
  /** Number of listeners of one session. */
  listening(session: string): number
  push(told: Told): void
  /** Call it before `listen`: resolves when the events of all workers arrive here. */
  prepare(orgId: number | null): Promise<void>
  /** Returns the stream of a new listener. */
  listen(listening: Listening): ReadableStream<Uint8Array>
  close(): void
}

interface Channel {
  readonly ring: Ring
  readonly listeners: Set<Subscriber>
}

export function liveHub({ clock, size, draining, relay, lagged }: HubOptions): Hub {
  /** In the order of their last event. */
  const channels = new Map<number, Channel>()
  const pings = new Map<Subscriber, { at: number; listening: Listening }>()
  let ticker: Timer | null = null
  let batch: Timer | null = null
  let woken = Number.NEGATIVE_INFINITY
  let waiting = 0

  const channelOf = (orgId: number | null, first = clock.now()): Channel => {
    const known = channels.get(orgId ?? 0)
    if (known !== undefined) return known
    // The wall clock advances faster than events are numbered, so numbers of an earlier process are smaller.
    const made: Channel = { ring: new Ring(size, first), listeners: new Set() }
    channels.set(orgId ?? 0, made)
    if (channels.size > MAX_RINGS) forgetOne()
    return made
  }
  const forgetOne = (): void => {
    for (const [org, { listeners }] of channels) if (listeners.size === 0) return void channels.delete(org)
  }
  const tick = (): void => {
    if (draining()) return closeAll()
    relay?.keep(clock.monotonic())
    const now = clock.monotonic()
    for (const [subscriber, due] of pings) {
      if (subscriber.behind && now - subscriber.readAt >= STALL_MS) subscriber.abandon()
      else if (now - due.at >= PING_MS) {
        due.at = now
        void due.listening.allowed().then((still) => (still ? subscriber.ping(now) : subscriber.close()))
      }
    }
  }
  const wake = (): void => {
    batch?.cancel()
    batch = null
    woken = clock.monotonic()
    waiting = 0
    for (const subscriber of pings.keys()) subscriber.wake()
  }
  const closeAll = (): void => {
    for (const subscriber of [...pings.keys()]) subscriber.close()
  }

  const keep = (told: Told, number?: number): void => {
    const org = told.orgId ?? 0
    const channel = channelOf(told.orgId, number)
    if (channels.size > 1) {
      channels.delete(org)
      channels.set(org, channel)
    }
    channel.ring.push(told, number)
    if (channel.listeners.size === 0) return
    // Readers must not fall behind the ring while they wait.
    if (clock.monotonic() - woken >= BATCH_MS || ++waiting >= size / 2) wake()
    else batch ??= clock.timer(BATCH_MS, wake, true)
  }
  relay?.follow(keep)

  return {
    get subscribers() {
      return pings.size
    },
    listening(session) {
      let count = 0
      for (const { listening } of pings.values()) if (listening.session === session) count++
      return count
    },
    push: (told) => (relay === undefined ? keep(told) : relay.push(told)),
    async prepare(orgId) {
      if (relay !== undefined) channelOf(orgId, await relay.want(orgId))
    },
    listen(listening) {
      const { ring, listeners } = channelOf(listening.orgId)
      const now = clock.monotonic()
      const from = startOf(ring, listening.lastEventId)
      // A listener that leaves before its first event can come back without a loss: it knows where it began.
      const hello = `id: ${from - 1}\nevent: hello\ndata: ${JSON.stringify(listening.hello)}\n\n`
      const subscriber: Subscriber = new Subscriber(ring, from, hello, now, {
        lagged,
        ended() {
          listeners.delete(subscriber)
          pings.delete(subscriber)
          if (pings.size > 0) return
          ticker?.cancel()
          ticker = null
        },
      })
      listeners.add(subscriber)
      pings.set(subscriber, { at: now, listening })
      ticker ??= clock.every(TICK_MS, tick)
      return subscriber.stream
    },
    close() {
      batch?.cancel()
      closeAll()
    },
  }
}

/** Start after the last event that the client saw; for an unknown number, at the oldest kept event; without one, at the next event. */
function startOf(ring: Ring, lastEventId: string | null): number {
  if (lastEventId === null || !/^\d{1,15}$/.test(lastEventId)) return ring.next
  const last = Number(lastEventId)
  return ring.gave(last) ? last + 1 : ring.oldest
}
