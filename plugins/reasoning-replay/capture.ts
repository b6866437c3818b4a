// Captures thoughts of an answer with tool calls, streamed or whole.
import type { Choice } from '../../core/types/request/answer.ts'
import type { Frozen, Part, ReasoningPart } from '../../core/types/request/canonical.ts'
import type { StreamEvent, StreamTransform } from '../../core/types/request/stream.ts'
import type { KeyOf } from './scope.ts'

export interface Capture extends StreamTransform {
  choice(choice: Frozen<Pick<Choice, 'index' | 'parts'>>): void
}

export function captured(keyOf: KeyOf, keep: (keys: readonly string[], parts: readonly ReasoningPart[]) => void): Capture {
  const running = new Map<number, Frozen<Part>[]>()
  const choice = (parts: readonly Frozen<Part>[]): void => {
    const thoughts = parts.filter((part) => part.t === 'reasoning')
    if (thoughts.length === 0) return
    const keys = parts.flatMap((part) => (part.t === 'tool_call' ? [keyOf(part.id, part.args)] : []))
    if (keys.length > 0) keep(keys, thoughts as ReasoningPart[])
  }
  return {
    passive: true,
    event(event: StreamEvent) {
      if (event.e === 'part_stop' && (event.full.t === 'reasoning' || event.full.t === 'tool_call')) {
        const parts = running.get(event.choice)
        if (parts === undefined) running.set(event.choice, [event.full])
        else parts.push(event.full)
      }
      // A truncated answer has no call that a client could send back.
      if (event.e === 'finish') {
        choice(running.get(event.choice) ?? [])
        running.delete(event.choice)
      }
    },
    choice: ({ parts }) => choice(parts),
  }
}
