// The fact that a listener to live events was too slow a short time ago.
import type { AttentionFacts } from '../../core/types/attention.ts'
import type { Clock } from '../../core/types/ports/ports.ts'

/** A loss is no news after this time. */
const NEWS_MS = 15 * 60_000

export function lagFacts(clock: Clock): { missed(events: number): void; facts: AttentionFacts } {
  let total = 0
  let at: number | null = null
  return {
    missed(events) {
      total += events
      at = clock.now()
    },
    facts({ system }) {
      if (!system || at === null || clock.now() - at > NEWS_MS) return []
      return [
        {
          kind: 'live_dropped',
          severity: 'warning',
          subject: { kind: 'log', id: 'live_events', label: 'live events' },
          title: `Listeners to live events missed ${total} ${total === 1 ? 'event' : 'events'}.`,
          since: at,
          effect: 'The request log has all of them; raise GATEWAY_LIVE_EVENT_BUFFER for slow listeners.',
          levers: [],
          link: '/requests',
        },
      ]
    },
  }
}
