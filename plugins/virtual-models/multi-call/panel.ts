// Runs several calls at once: waits for enough answers, a little longer for the others, and has a fixed end.
import type { Clock } from '../../../core/types/ports.ts'

export interface PanelRules {
  /** Answers after which only `graceMs` are waited for more. */
  readonly quorum: number
  readonly graceMs: number
  readonly timeoutMs: number
}

export interface PanelOutcome<T> {
  /** In the order of the calls. */
  readonly answers: readonly T[]
  /** In the order in which they came; `call`: its place in the order of the calls. */
  readonly failures: readonly { readonly call: number; readonly error: unknown }[]
}

/** Never rejects. Calls that miss the deadline are aborted. */
export function gathered<T>(
  calls: readonly ((signal: AbortSignal) => Promise<T>)[],
  rules: PanelRules,
  clock: Clock,
): Promise<PanelOutcome<T>> {
  const quorum = Math.min(Math.max(1, rules.quorum), calls.length)
  return new Promise((resolve) => {
    const answers = new Map<number, T>()
    const failures: { call: number; error: unknown }[] = []
    const controllers = calls.map(() => new AbortController())
    let open = true
    let grace: { cancel(): void } | null = null
    const finish = (): void => {
      if (!open) return
      open = false
      end.cancel()
      grace?.cancel()
      for (const controller of controllers) controller.abort()
      resolve({ answers: calls.flatMap((_call, index) => (answers.has(index) ? [answers.get(index) as T] : [])), failures })
    }
    const end = clock.timer(rules.timeoutMs, finish)
    const heard = (): void => {
      if (answers.size + failures.length === calls.length) finish()
      else if (answers.size >= quorum && open) grace ??= clock.timer(rules.graceMs, finish)
    }
    calls.forEach((call, index) => {
      call((controllers[index] as AbortController).signal).then(
        (answer) => {
          if (!open) return
          answers.set(index, answer)
          heard()
        },
        (error) => {
          if (!open) return
          failures.push({ call: index, error })
          heard()
        },
      )
    })
  })
}
