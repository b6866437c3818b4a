// Limits connections that have not yet sent a whole request, for each address and in total; the oldest is closed first. A connection that
// has sent one is never counted again, so that a load balancer's pool stays open.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../../../core/types/ports/ports.ts'

export interface PendingLimits {
  readonly perAddress: number
  readonly total: number
}

export interface PendingConnections {
  /** Current number. It may include connections whose request arrived since the last sweep. */
  readonly size: number
  opened(socket: Socket): void
  /** Call it when the head of a request has arrived. Takes constant time; does nothing for a connection that is not counted. */
  brings(req: IncomingMessage): void
}

interface Pending {
  readonly socket: Socket
  readonly block: string
  /** Monotonic ms. */
  readonly since: number
  request: IncomingMessage | null
}

/**
 * A connection has this time to send its request before the limit per address applies: many normal clients at once are over that limit
 * for a moment. The total limit has no such time, because descriptors could run out.
 */
const GRACE_MS = 1000

/** Block of an address. Sockets without an address (already closed) share one block. */
export function addressBlock(address: string | undefined): string {
  if (address === undefined || !ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16))
  return `${parts.join(':')}::/64`
}

/** @param evicted called once for every connection that a limit closes. */
export function pendingConnections(
  limits: PendingLimits,
  clock: Clock,
  evicted: (bound: 'address' | 'total') => void,
): PendingConnections {
  /** In order of arrival, like every set of a block. */
  const all = new Map<Socket, Pending>()
  const blocks = new Map<string, Set<Pending>>()
  let looking = false
  let later = false

  function forget(pending: Pending): void {
    if (!all.delete(pending.socket)) return
    const block = blocks.get(pending.block)
    block?.delete(pending)
    if (block?.size === 0) blocks.delete(pending.block)
  }

  function evict(pending: Pending, bound: 'address' | 'total'): void {
    forget(pending)
    pending.socket.destroy()
    evicted(bound)
  }

  /** Checks after the sockets were read: a connection whose request waits there is not silent. */
  function lookSoon(): void {
    if (looking) return
    looking = true
    setImmediate(() => setImmediate(look))
  }

  function look(): void {
    looking = false
    const young = clock.monotonic() - GRACE_MS
    let waiting = false
    for (const block of blocks.values()) {
      for (const pending of block) {
        if (block.size <= limits.perAddress) break
        if (pending.request?.complete) forget(pending)
        else if (pending.since <= young) evict(pending, 'address')
        else waiting = true
      }
    }
    for (const pending of all.values()) {
      if (all.size <= limits.total) break
      if (pending.request?.complete) forget(pending)
      else evict(pending, 'total')
    }
    if (waiting) lookLater()
  }

  function lookLater(): void {
    if (later) return
    later = true
    const timeIsUp = (): void => {
      later = false
      look()
    }
    clock.timer(GRACE_MS, timeIsUp, true)
  }

  // One function for all sockets: each holds it as long as it is open.
  function closed(this: Socket): void {
    const pending = all.get(this)
    if (pending !== undefined) forget(pending)
  }

  return {
    get size() {
      return all.size
    },
    opened(socket) {
      const block = addressBlock(socket.remoteAddress)
      const pending: Pending = { socket, block, since: clock.monotonic(), request: null }
      all.set(socket, pending)
      const same = blocks.get(block)
      if (same === undefined) blocks.set(block, new Set([pending]))
      else same.add(pending)
      socket.on('close', closed)
      if ((same?.size ?? 1) > limits.perAddress || all.size > limits.total) lookSoon()
    },
    brings(req) {
      const pending = all.get(req.socket)
      if (pending === undefined) return
      // A second request shows that the first was complete.
      if (pending.request === null) pending.request = req
      else forget(pending)
    },
  }
}
