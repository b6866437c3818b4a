// Runs plugins' background jobs: with jitter so that replicas do not run in step, one run at a time, stopped on teardown.
import { errorText } from '../text/error-text.ts'
import type { Clock, Logger, Timer } from '../types/ports/ports.ts'

export interface Job {
  name: string
  ms: number
  run(signal: AbortSignal): Promise<void>
  clock: Clock
  log: Logger
}

const JITTER = 0.1

/** Returns stop(), which aborts a running job and waits for it. */
export function startJob({ name, ms, run, clock, log }: Job): () => Promise<void> {
  const abort = new AbortController()
  let timer: Timer | null = null
  let running: Promise<void> = Promise.resolve()

  const schedule = (): void => {
    timer = clock.timer(
      ms * (1 - JITTER + 2 * JITTER * Math.random()),
      () => {
        running = once().finally(() => {
          if (!abort.signal.aborted) schedule()
        })
      },
      true,
    )
  }
  const once = async (): Promise<void> => {
    try {
      await run(abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) log.error('job.failed', { job: name, error: errorText(error) })
    }
  }

  schedule()
  return async () => {
    abort.abort(new Error('teardown'))
    timer?.cancel()
    await running
  }
}
