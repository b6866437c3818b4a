// The state that several processes share, in the memory of one: rates, slots, short-lived values, claims, feeds. A process that ends gives
// back its slots and claims at once. Values are lost with this process; all of them may be lost.
import type { Duplex } from 'node:stream'
import { memoryCounters } from '../../../core/counters/memory.ts'
import { memoryDriver } from '../../../core/kv/memory-driver.ts'
import type { Clock } from '../../../core/types/ports/ports.ts'
import { claimTable } from './claims.ts'
import { feedTable } from './feeds.ts'
import { type Poll, polls } from './polls.ts'
import { type Held, slotTable } from './slots.ts'
import { type Message, type Wire, wire } from './wire.ts'

export interface AuthorityOptions {
  readonly clock: Clock
  /** Bytes of the stored values; default 128 MiB. */
  readonly maxBytes?: number
  /** By topic: folds the last answer of a process that ended into the rest that is added to later answers. */
  readonly rests?: Readonly<Record<string, (rest: unknown, last: unknown) => Promise<unknown> | unknown>>
}

export interface Authority {
  /** Serves the process at this place until the socket ends. */
  connect(place: number, socket: Duplex): void
  /** Number of connected processes. */
  readonly connected: number
  close(): void
}

/** One connected process. */
interface Member {
  readonly place: number
  readonly held: Held
  readonly wire: Wire
}

const MAX_BYTES = 128 * 1024 * 1024
const MAX_VALUES = 200_000

export function authority({ clock, maxBytes = MAX_BYTES, rests = {} }: AuthorityOptions): Authority {
  const members = new Set<Member>()
  const counters = memoryCounters(clock)
  const slots = slotTable(() => clock.monotonic())
  const values = memoryDriver({ clock, maxEntries: MAX_VALUES, maxBytes })
  const claims = claimTable()
  const all = (...message: Message): void => {
    for (const member of members) member.wire.send(message)
  }
  const feeds = feedTable({
    clock,
    event: (...event) => all('event', ...event),
    demand: (name, wanted) => all('wanted', name, wanted),
  })
  const asked = polls(clock, rests)
  let leader: Member | null = null

  const elect = (): void => {
    const next = [...members].sort((a, b) => a.place - b.place)[0] ?? null
    if (next === leader) return
    leader?.wire.send(['leads', false])
    leader = next
    leader?.wire.send(['leads', true])
  }

  /** Returns the answer of a call; undefined: `reply` gives it later. */
  function answer(member: Member, [verb, ...args]: readonly unknown[], reply: (value: unknown) => void): unknown {
    const [first, second, third, fourth] = args as [string, never, never, never]
    switch (verb) {
      case 'take': {
        const limit = third === null ? { perMinute: second } : { perMinute: second, burst: third }
        return counters.take(first, limit, fourth)
      }
      case 'debit':
        return void counters.debit(first, second, third).then(reply)
      case 'inMinute':
        return counters.inMinute(first)
      case 'acquire':
        return slots.acquire(member.held, first, second, third)
      case 'once':
        return void counters.once(first, second).then(reply)
      case 'get':
        return values.getItem(first)
      case 'has':
        return values.hasItem(first, {})
      case 'set':
        values.setItem?.(first, second, third === null ? {} : { ttl: third })
        return null
      case 'remove':
        values.removeItem?.(first, {})
        return null
      case 'keys':
        return (values.getKeys(first, {}) as string[]).filter((key) => key.startsWith(first))
      case 'clear':
        for (const key of values.getKeys(first, {}) as string[]) if (key.startsWith(first)) values.removeItem?.(key, {})
        return null
      case 'claim':
        return claims.take(member, first, (outcome) => member.wire.send(['ended', second, outcome]))
      case 'want':
        return feeds.want(first, second)
      case 'ask':
        return void asked.ask({ topic: first, own: second, question: third }, member, [...members]).then(reply)
      case 'ping':
        return true
      default:
        throw new Error(`unknown call ${String(verb)}`)
    }
  }

  function take(member: Member, [kind, ...rest]: Message): void {
    switch (kind) {
      case 'call': {
        const [id, ...call] = rest as [number, ...unknown[]]
        const reply = (value: unknown): void => member.wire.send(['reply', id, value])
        const value = answer(member, call, reply)
        if (value !== undefined) reply(value)
        return
      }
      case 'release':
        return slots.release(member.held, rest[0] as number)
      case 'renew':
        return slots.renew(member.held)
      case 'end':
        return claims.end(member, rest[0] as string, rest[1] as string)
      case 'publish':
        return feeds.publish(rest[0] as string, rest[1] as number, rest[2])
      case 'answer':
        return asked.answered(member, rest[0] as number, rest[1])
      case 'tell':
        for (const other of members) if (other !== member) other.wire.send(['told', ...rest])
    }
  }

  return {
    get connected() {
      return members.size
    },
    connect(place, socket) {
      const gone = (): void => {
        members.delete(member)
        slots.leave(member.held)
        claims.leave(member)
        asked.leave(member)
        elect()
      }
      const member: Member & Poll = { place, held: new Map(), wire: wire(socket, (message) => take(member, message), gone) }
      members.add(member)
      for (const name of feeds.wanted()) member.wire.send(['wanted', name, true])
      elect()
    },
    close() {
      feeds.close()
      for (const member of members) member.wire.close()
      members.clear()
    },
  }
}
