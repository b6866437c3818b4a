// Plugins with one fault each, and the words by which the conformance kit names it.

import type { PluginGateway } from '../../../core/types/plugin/plugin.ts'
import type { CanonicalResponse } from '../../../core/types/request/answer.ts'
import type { Part } from '../../../core/types/request/canonical.ts'
import type { StreamEvent } from '../../../core/types/request/stream.ts'

export interface Faulty {
  readonly setup: (gateway: PluginGateway) => void
  /** Matches the message of a case that fails. */
  readonly named: RegExp
}

const EMAIL = /[\w.]+@[\w-]+(?:\.[\w-]+)+/g
const clean = (text: string): string => text.replace(EMAIL, '[e-mail]')
const cleanPart = (part: Part): Part =>
  part.t === 'text' ? { ...part, text: clean(part.text) } : part.t === 'tool_call' ? { ...part, args: clean(part.args) } : part
const cleanAnswer = (response: CanonicalResponse): CanonicalResponse => ({
  ...response,
  choices: response.choices.map((choice) => ({ ...choice, parts: choice.parts.map(cleanPart) })),
})
type Change = (event: StreamEvent, emit: (event: StreamEvent) => void) => void
const streams = (gateway: PluginGateway, make: () => Change): void =>
  gateway.hook('stream', () => ({ event: make() }), { operation: 'chat' })
const wholes = (gateway: PluginGateway, change: (response: CanonicalResponse) => CanonicalResponse): void =>
  gateway.hook('response', (_ctx, response) => change(response as CanonicalResponse), { operation: 'chat' })

export const FAULTY: Readonly<Record<string, Faulty>> = {
  'holds text back and never releases it': {
    setup: (gateway) =>
      streams(gateway, () => {
        let held = ''
        return (event, emit) => {
          if (event.e !== 'delta' || !('text' in event.d)) return emit(event)
          const text = held + event.d.text
          const end = text.lastIndexOf(' ') + 1
          held = text.slice(end)
          emit({ ...event, d: { text: text.slice(0, end) } })
        }
      }),
    named: /release held text before `part_stop`/,
  },
  'drops the arguments of calls': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => (event.e === 'delta' && !('text' in event.d) ? undefined : emit(event))),
    named: /deltas of `args` and the `full` of `part_stop` differ/,
  },
  'drops the finish': {
    setup: (gateway) => streams(gateway, () => (event, emit) => (event.e === 'finish' ? undefined : emit(event))),
    named: /without `finish`|is not complete/,
  },
  'changes deltas, not the whole part': {
    setup: (gateway) =>
      streams(
        gateway,
        () => (event, emit) =>
          emit(event.e === 'delta' && 'text' in event.d ? { ...event, d: { text: event.d.text.toUpperCase() } } : event),
      ),
    named: /deltas of `text` and the `full` of `part_stop` differ/,
  },
  'changes the whole part, not its deltas': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => emit(event.e === 'part_stop' ? { ...event, full: cleanPart(event.full) } : event)),
    named: /deltas of `(?:text|args)` and the `full` of `part_stop` differ/,
  },
  'changes whole answers only': {
    setup: (gateway) => wholes(gateway, cleanAnswer),
    named: /the stream is another answer than the whole one/,
  },
  'changes streams only': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => {
        if (event.e === 'delta' && 'text' in event.d) emit({ ...event, d: { text: event.d.text.toUpperCase() } })
        else if (event.e === 'part_stop' && event.full.t === 'text')
          emit({ ...event, full: { ...event.full, text: event.full.text.toUpperCase() } })
        else emit(event)
      }),
    named: /the stream is another answer than the whole one/,
  },
  'redacts chunk by chunk': {
    setup(gateway) {
      wholes(gateway, cleanAnswer)
      streams(gateway, () => {
        const said = new Map<string, string>()
        return (event, emit) => {
          if (event.e === 'delta' && ('text' in event.d || 'args' in event.d)) {
            const [member, piece] = Object.entries(event.d)[0] as [string, string]
            const text = clean(piece)
            said.set(`${event.choice}.${event.part}`, (said.get(`${event.choice}.${event.part}`) ?? '') + text)
            emit({ ...event, d: { [member]: text } as { text: string } })
          } else if (event.e === 'part_stop') {
            const text = said.get(`${event.choice}.${event.part}`) ?? ''
            const { full } = event
            emit({
              ...event,
              full: full.t === 'text' ? { ...full, text } : full.t === 'tool_call' ? { ...full, args: text } : full,
            })
          } else emit(event)
        }
      })
    },
    named: /in pieces it is another answer|the stream is another answer/,
  },
  'writes into an event': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => {
        if (event.e === 'delta' && 'text' in event.d) event.d.text = clean(event.d.text)
        emit(event)
      }),
    named: /failed|plugin_failed/,
  },
  'writes into a whole answer': {
    setup: (gateway) =>
      gateway.hook(
        'response',
        (_ctx, response) => {
          for (const { parts } of response.choices as unknown as { parts: { text?: string }[] }[])
            for (const part of parts) part.text = 'changed'
        },
        { operation: 'chat' },
      ),
    named: /failed|plugin_failed/,
  },
  'leaves a timer behind': {
    setup: () => void setInterval(() => {}, 60_000).unref(),
    named: /a timer outlives the gateway/,
  },
  'emits after the end': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => {
        emit(event)
        if (event.e === 'end') emit({ e: 'usage', usage: {} })
      }),
    named: /after `end`/,
  },
  'never closes a part': {
    setup: (gateway) => streams(gateway, () => (event, emit) => (event.e === 'part_stop' ? undefined : emit(event))),
    named: /parts without `part_stop`|is not complete|another answer/,
  },
  'loses the usage': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => {
        if (event.e === 'start') emit({ e: 'start', id: event.id, model: event.model, created: event.created })
        else if (event.e !== 'usage') emit(event)
      }),
    named: /the stream is another answer than the whole one/,
  },
  'adds text to a part that is not open': {
    setup: (gateway) =>
      streams(gateway, () => (event, emit) => {
        if (event.e === 'finish') emit({ e: 'delta', choice: event.choice, part: 99, d: { text: ' Goodbye.' } })
        emit(event)
      }),
    named: /which is not open/,
  },
}
