// Follows the live events of a gateway, and goes on behind the last one when the connection breaks.
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { LiveEvent } from '../../plugins/live-events/payload.ts'
import type { StateEvent } from '../../plugins/live-events/state-events.ts'
import { HookgateError } from './client-error.ts'
import { eventFrames } from './event-frames.ts'
import type { Send } from './send.ts'

export interface EventsOptions {
  readonly signal?: AbortSignal
  /** Goes on behind this event, as far back as the gateway remembers. */
  readonly lastEventId?: string
  /** False: the iterator ends with the connection. Default: true by address, false in process, where only the gateway's end ends it. */
  readonly reconnect?: boolean
  /** For the pauses between connections. */
  readonly clock?: Pick<Clock, 'sleep'>
}

/** The first message of each connection. */
export interface Hello {
  readonly version: string
  /** Events that the gateway keeps for readers that come back. */
  readonly buffer: number
  /** Number of the configuration in the process that answers. Callers without the role `system` do not get it. */
  readonly generation?: number
}

/** One message of the stream. `id` is that of the event, for `lastEventId`. */
export type LiveMessage =
  | { readonly event: 'hello'; readonly data: Hello; readonly id: string | null }
  /** A request has ended. */
  | { readonly event: 'request'; readonly data: LiveEvent; readonly id: string | null }
  /** An account, a budget or the configuration has changed. */
  | { readonly event: 'state'; readonly data: StateEvent; readonly id: string | null }
  /** The reader was too slow: this number of events was not sent. */
  | { readonly event: 'lagged'; readonly data: { readonly missed: number }; readonly id: string | null }

const RETRY_MS = [250, 1000, 2000, 5000, 10_000]
const KNOWN: ReadonlySet<string> = new Set(['hello', 'request', 'state', 'lagged'])

/** @throws HookgateError when the first connection fails, and later for every refusal except 429 and 5xx */
export async function* liveEvents(send: Send, options: EventsOptions & { reconnect: boolean }): AsyncGenerator<LiveMessage> {
  const { signal, reconnect, clock = systemClock } = options
  let last = options.lastEventId ?? null
  let failures = 0
  for (let first = true; !signal?.aborted; first = false) {
    try {
      const response = await send('get', '/api/events', {
        headers: { accept: 'text/event-stream', ...(last === null ? {} : { 'last-event-id': last }) },
        ...(signal === undefined ? {} : { signal }),
      })
      failures = 0
      if (response.body !== null)
        for await (const { event, data, id } of eventFrames(response.body)) {
          last = id ?? last
          if (KNOWN.has(event)) yield { event, data: JSON.parse(data), id: last } as LiveMessage
        }
    } catch (error) {
      if (signal?.aborted) return
      if (first || !reconnect || isFinal(error)) throw error
    }
    if (!reconnect) return
    const pause = RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)] as number
    await clock.sleep(pause, signal).catch(() => {})
  }
}

/** A broken connection, a full or a stopping gateway may answer later; any other refusal stays. */
function isFinal(error: unknown): boolean {
  return error instanceof HookgateError && error.status >= 400 && error.status < 500 && error.status !== 429
}
