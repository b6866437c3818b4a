// Numbers the events of one background run and writes them to the log: all of a short time in one row.
import type { Clock, Logger, Timer } from '../../../core/types/ports/ports.ts'
import { withMembers } from '../answers/json-members.ts'
import type { EventLog, LoggedEvent } from './event-log.ts'

/** A follower writes `response.created`, `response.queued` and `response.in_progress` itself. */
export const FIRST_EVENT = 3
const FLUSH_MS = 100
const MAX_WAITING = 256 * 1024
/** Further events are not written; the last one has the whole response. */
const MAX_CHARS = 16 * 1024 * 1024
/** A follower writes them from the state of the run. */
const LEFT_OUT = /^(?:response\.(?:created|queued|in_progress|completed|incomplete|failed|cancelled)|error|)$/

export interface Recorder {
  /** Returns false when many bytes wait: await flush() before the next one. */
  add(type: string, data: string): boolean
  /** Resolves when everything is written that was added. Never rejects. */
  flush(): Promise<void>
}

export interface RecorderParts {
  readonly log: EventLog
  readonly clock: Pick<Clock, 'timer'>
  readonly logger: Logger
  readonly orgId: number | null
  readonly token: string
  /** Called when events were written. */
  written(): void
}

export function eventRecorder({ log, clock, logger, orgId, token, written }: RecorderParts): Recorder {
  let next = FIRST_EVENT
  let first = FIRST_EVENT
  let waiting: LoggedEvent[] = []
  let waitingChars = 0
  let chars = 0
  let timer: Timer | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    timer?.cancel()
    timer = null
    if (waiting.length === 0) return
    const events = waiting
    waiting = []
    waitingChars = 0
    try {
      await log.append(orgId, token, { first, events })
      first += events.length
      written()
    } catch (error) {
      logger.warn('responses_state.events', { run: token, error: String(error) })
      waiting = [...events, ...waiting]
    }
  }

  function flush(): Promise<void> {
    writing = writing.then(write)
    return writing
  }

  return {
    add(type, data) {
      if (LEFT_OUT.test(type) || chars > MAX_CHARS) return true
      // In JSON text, line breaks occur only between tokens.
      const line = withMembers(data.replace(/[\r\n]+/g, ' '), [], { sequence_number: next++ })
      waiting.push({ type, data: line })
      waitingChars += line.length
      chars += line.length
      timer ??= clock.timer(FLUSH_MS, () => void flush(), true)
      return waitingChars < MAX_WAITING
    },
    flush,
  }
}
