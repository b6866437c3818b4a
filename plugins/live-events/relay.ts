// Passes the events of all workers to each of them, in one order, so that a listener sees the same at any worker. While no worker has had
// a listener for an hour, nothing is sent.
import type { Feed, Siblings } from '../../core/types/ports/siblings.ts'
import { type Relayed, shown, type Told } from './ring.ts'

export interface Relay {
  push(told: Told): void
  follow(take: (told: Told, number: number) => void): void
  /** Returns the number of the organization's next event. */
  want(orgId: number | null): Promise<number>
  /** Call it often while there are listeners. @param now monotonic ms. */
  keep(now: number): void
}

const NAME = 'live-events'
const KEEP_MS = 600_000

export function relayOf(siblings: Siblings): Relay {
  let feed: Feed | null = null
  let keptAt = 0
  return {
    push(told) {
      if (feed?.wanted !== true || !isMine(told, siblings)) return
      const { name, data } = shown(told)
      feed.publish(told.orgId ?? 0, { name, data })
    },
    follow(take) {
      feed = siblings.feed(NAME, (channel, number, sent) => {
        const event = sent as Pick<Relayed, 'name' | 'data'>
        take({ event: 'relayed', orgId: channel === 0 ? null : channel, ...event }, number)
      })
    },
    want: async (orgId) => (await feed?.want(orgId ?? 0)) ?? 0,
    keep(now) {
      if (now - keptAt < KEEP_MS) return
      keptAt = now
      feed?.want(0).catch(() => {})
    },
  }
}

/** Every worker sees a reload and a changed state of an account; one of them reports it. */
function isMine(told: Told, { leads }: Siblings): boolean {
  return leads || told.event !== 'state' || told.data.kind === 'budget'
}
