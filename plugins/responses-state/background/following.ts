// Streams a background response: its events so far, and each new one until it has ended, also when another process runs it.

import type { ByteSource, Clock } from '../../../core/types/ports/ports.ts'
import type { JsonObject } from '../../../core/types/request/canonical.ts'
import type { Result } from '../../../core/types/request/result.ts'
import { ended, frameOf, replayedRest } from '../answers/replay.ts'
import type { EventLog } from './event-log.ts'
import { FIRST_EVENT } from './event-recorder.ts'
import type { Runs } from './runs.ts'

const POLL_MS = 250
const PING_MS = 15_000

export interface Following {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly runs: Pick<Runs, 'news'>
  readonly events: Pick<EventLog, 'after' | 'last'>
  readonly orgId: number | null
  readonly token: string
}

/** `after`: events up to this number are left out. `read` returns the response as it is now. */
export function followed(
  { clock, runs, events, orgId, token }: Following,
  after: number,
  read: () => Promise<JsonObject | null | undefined>,
): Result {
  let isCancelled = false
  const body: ByteSource = {
    async pump(sink) {
      /** The number of the next event. */
      let next = 0
      let quietSince = Number.NEGATIVE_INFINITY
      const put = (frames: readonly string[], isLast = false): void => {
        const text = frames.filter((_, index) => next + index > after || (isLast && index === frames.length - 1)).join('')
        next += frames.length
        if (text === '') return
        quietSince = clock.monotonic()
        sink.write(text)
      }
      const putLogged = async (): Promise<void> => {
        while (!isCancelled) {
          const batches = await events.after(orgId, token, Math.max(after, next - 1))
          if (batches.length === 0) return
          for (const { first, events: logged } of batches) {
            next = first
            put(logged.map(({ type, data }) => `event: ${type}\ndata: ${data}\n\n`))
          }
          await sink.drained()
        }
      }
      // The state is read before the events: once it has ended, no event is added.
      for (let response = await read(); !isCancelled; response = await read()) {
        if (response === null || response === undefined) return
        const { status } = response
        if (next === 0)
          put(
            ['response.created', 'response.queued'].map((type, at) => frameOf(type, at, { response: begun(response, 'queued') })),
          )
        if (next < FIRST_EVENT && status !== 'queued')
          put([frameOf('response.in_progress', next, { response: begun(response, 'in_progress') })])
        if (status !== 'queued') await putLogged()
        if (status !== 'queued' && status !== 'in_progress') {
          const last = await events.last(token)
          if (last === null) return put(replayedRest(response, next), true)
          next = last + 1
          return put([ended(response, next)], true)
        }
        // The first one is sent at once: the head of the answer leaves with it.
        if (clock.monotonic() - quietSince >= PING_MS) {
          quietSince = clock.monotonic()
          sink.write(': ping\n\n')
        }
        await sink.drained()
        await runs.news(token, POLL_MS)
      }
    },
    cancel() {
      isCancelled = true
    },
  }
  return { kind: 'raw', status: 200, headers: [], body }
}

function begun(response: JsonObject, status: string): JsonObject {
  return { ...response, status, output: [], usage: null, completed_at: null, error: null }
}
