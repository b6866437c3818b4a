// Sets time limits for Redis answers that do not count delays of our own event loop. Commands of one turn of the event loop are written
// together, and their time starts at that write.
import type { Command, Redis } from 'ioredis'
import { systemClock } from '../../core/timing/clock.ts'
import type { Clock, Timer } from '../../core/types/ports/ports.ts'

export const NO_ANSWER = 'Redis did not answer in time.'

export interface AnswerWatchOptions {
  redis: Redis
  /** Longest silence of the connection while a command waits, ms. */
  silenceMs: number
  /** Longest wait of one command while the connection answers others, ms. */
  waitMs: number
  /** Called once for each stall that fails commands, with their number. */
  onStall?: (commands: number) => void
  clock?: Pick<Clock, 'monotonic' | 'timer'>
}

interface Batch {
  readonly commands: Set<Command>
  /** Monotonic ms of the write. */
  sentAt: number
}

/** Applies to every command that this client sends from now on. All commands that one stall fails reject with the same error. */
export function watchAnswers({ redis, silenceMs, waitMs, onStall, clock = systemClock }: AnswerWatchOptions): void {
  const sent = new Set<Batch>()
  let collecting: Batch | null = null
  let timer: Timer | null = null
  let bytesRead = 0
  let readAt = 0

  const send = redis.sendCommand.bind(redis)
  redis.sendCommand = (command, stream) => {
    collecting ??= collect()
    const batch = collecting
    batch.commands.add(command)
    const answered = (): void => {
      batch.commands.delete(command)
      if (batch.commands.size === 0) sent.delete(batch)
    }
    command.promise.then(answered, answered)
    return send(command, stream)
  }

  function collect(): Batch {
    const batch: Batch = { commands: new Set(), sentAt: 0 }
    const { stream } = redis
    stream?.cork()
    setImmediate(() => {
      collecting = null
      stream?.uncork()
      if (batch.commands.size === 0) return
      batch.sentAt = clock.monotonic()
      sent.add(batch)
      arm()
    })
    return batch
  }

  function arm(): void {
    if (timer !== null || sent.size === 0) return
    const next = Math.min(...Array.from(sent, deadline))
    timer = clock.timer(Math.max(1, next - clock.monotonic()), expired, true)
  }

  const deadline = ({ sentAt }: Batch): number => Math.min(Math.max(sentAt, readAt) + silenceMs, sentAt + waitMs)

  /** An answer may have arrived while this process was busy, so the socket gets one more poll phase before commands fail. */
  function expired(): void {
    progress()
    setImmediate(() => {
      timer = null
      if (!progress()) fail()
      arm()
    })
  }

  /** Returns whether the connection has answered since the last check. */
  function progress(): boolean {
    const now = redis.stream?.bytesRead ?? 0
    if (now === bytesRead) return false
    bytesRead = now
    readAt = clock.monotonic()
    return true
  }

  function fail(): void {
    const now = clock.monotonic()
    const error = new Error(NO_ANSWER)
    let failed = 0
    for (const batch of sent) {
      if (deadline(batch) > now) continue
      sent.delete(batch)
      failed += batch.commands.size
      for (const command of batch.commands) command.reject(error)
    }
    if (failed > 0) onStall?.(failed)
  }
}
