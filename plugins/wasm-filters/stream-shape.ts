// Checks that a filter's events still form a stream: events outside of parts are unchanged, and parts begin, continue and end in order.
import { comparableJson } from '../../core/json/comparable-json.ts'
import type { StreamEvent } from '../../core/types/request/stream.ts'
import { FilterFailure } from './failure.ts'

type PartEvent = Extract<StreamEvent, { e: 'part_start' | 'delta' | 'part_stop' }>

export interface StreamShape {
  /**
   * Returns the events to send, and keeps the state for the next batch. @throws FilterFailure `bad_output` when `after` cannot replace
   * `before`.
   */
  replaced(before: readonly StreamEvent[], after: readonly StreamEvent[]): StreamEvent[]
  /** Accepts an unchanged batch. @throws FilterFailure `bad_output` when earlier events do not allow it. */
  passed(events: readonly StreamEvent[]): void
}

export function streamShape(): StreamShape {
  /** Open parts: of the original stream, and of the changed one. */
  const came = new Map<string, 'open' | 'closed'>()
  const went = new Map<string, 'open' | 'closed'>()

  return {
    replaced(before, after) {
      const kept = before.filter((event) => !isPart(event))
      const events: StreamEvent[] = []
      let next = 0
      for (const event of after) {
        if (isPart(event)) {
          follow(went, event)
          events.push(event)
          continue
        }
        const original = kept[next++]
        if (original === undefined || comparableJson(original) !== comparableJson(event))
          throw bad(`the event \`${event.e}\` may not be made, moved or changed`)
        if (original.e === 'start') went.clear()
        events.push(original)
      }
      if (next < kept.length) throw bad(`the event \`${kept[next]?.e}\` is missing`)
      for (const event of before) track(came, event)
      if (before.some(({ e }) => e === 'finish')) sameEnd(came, went)
      return events
    },
    passed(events) {
      for (const event of events) {
        if (isPart(event) && went.get(keyOf(event)) !== came.get(keyOf(event)))
          throw bad(`the event \`${event.e}\` of part ${event.part} comes out of order`)
        track(came, event)
        track(went, event)
      }
      if (events.some(({ e }) => e === 'finish')) sameEnd(came, went)
    },
  }
}

function isPart(event: StreamEvent): event is PartEvent {
  return event.e === 'part_start' || event.e === 'delta' || event.e === 'part_stop'
}

function follow(parts: Map<string, 'open' | 'closed'>, event: PartEvent): void {
  const state = parts.get(keyOf(event))
  if (event.e === 'part_start' ? state !== undefined : state !== 'open')
    throw bad(`the event \`${event.e}\` of part ${event.part} comes out of order`)
  track(parts, event)
}

function track(parts: Map<string, 'open' | 'closed'>, event: StreamEvent): void {
  // A stream that starts belongs to another attempt.
  if (event.e === 'start') parts.clear()
  else if (event.e === 'part_start') parts.set(keyOf(event), 'open')
  else if (event.e === 'part_stop') parts.set(keyOf(event), 'closed')
}

/** A finish must not leave a part open that had ended. */
function sameEnd(came: ReadonlyMap<string, string>, went: ReadonlyMap<string, string>): void {
  for (const [key, state] of went)
    if (state === 'open' && came.get(key) !== 'open') throw bad(`part ${key.split(' ')[1]} is never ended`)
}

function keyOf({ choice, part }: PartEvent): string {
  return `${choice} ${part}`
}

function bad(what: string): FilterFailure {
  return new FilterFailure('bad_output', `Its output cannot stand for what came: ${what}.`)
}
