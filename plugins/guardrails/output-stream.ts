// Inspects a streamed answer. Text that may still become a match is held back, at most 256 characters for rules with a bounded length.
// Arguments of a tool call are held until they are complete, because clients cannot use them earlier.
import type { Part } from '../../core/types/request/canonical.ts'
import type { Delta, Emit, StreamEvent, StreamTransform } from '../../core/types/request/stream.ts'
import type { Inspection } from './inspection.ts'
import { readAfter } from './inspection.ts'
import { Restorer } from './redactor.ts'
import type { Scanner } from './scanner.ts'
import { detailsOf, mapArguments } from './texts.ts'

type Of<E extends StreamEvent['e']> = Extract<StreamEvent, { e: E }>
type ThoughtPart = Extract<Part, { t: 'reasoning' }>
type TextMember = 'text' | 'refusal' | 'reasoning' | 'summary'

interface Channel {
  readonly member: TextMember
  readonly scanner: Scanner
  readonly restorer: Restorer | null
  /** Characters received. `said`: the text sent. */
  taken: number
  said: string
  redacted: boolean
}

interface OpenPart {
  readonly kind: Of<'part_start'>['kind']
  readonly channels: Map<TextMember, Channel>
  /** Members that follow held text. */
  waiting: { readonly at: number; readonly delta: Delta }[]
}

const THOUGHT = { direction: 'output', role: 'assistant', place: 'reasoning' } as const
const MEMBERS: readonly TextMember[] = ['text', 'refusal', 'reasoning', 'summary']

export class GuardedStream implements StreamTransform {
  readonly #inspection: Inspection
  readonly #restores: ReadonlyMap<string, string> | null
  readonly #parts = new Map<string, OpenPart>()
  /** Choices with a changed text or thought. */
  readonly #changed = new Set<number>()
  readonly #rethought = new Set<number>()

  constructor(inspection: Inspection, restores: ReadonlyMap<string, string> | null) {
    this.#inspection = inspection
    this.#restores = restores
  }

  event(event: StreamEvent, emit: Emit): void {
    if (event.e === 'part_start') {
      this.#parts.set(keyOf(event), { kind: event.kind, channels: new Map(), waiting: [] })
      return emit(event)
    }
    if (event.e === 'finish') return emit(this.#finished(event))
    if (event.e !== 'delta' && event.e !== 'part_stop') return emit(event)
    const open = this.#parts.get(keyOf(event))
    if (open === undefined) return emit(event)
    if (event.e === 'delta') this.#delta(event, open, emit)
    else {
      this.#parts.delete(keyOf(event))
      this.#stop(event, open, emit)
    }
  }

  /** Ends parts that were never ended. */
  flush(emit: Emit): void {
    for (const [key, open] of this.#parts) {
      const [choice = 0, part = 0] = key.split(' ').map(Number)
      this.#finish(choice, part, open, emit)
    }
    this.#parts.clear()
  }

  #delta(event: Of<'delta'>, open: OpenPart, emit: Emit): void {
    const { choice, part, d } = event
    if (open.kind === 'tool_call' && 'args' in d) return
    const member = MEMBERS.find((name) => name in d)
    if (member === undefined) {
      open.waiting.push({ at: takenBy(open), delta: d })
    } else {
      const channel = this.#channel(open, member)
      this.#pass(choice, part, channel, (d as Record<TextMember, string>)[member], emit)
    }
    this.#deliver(choice, part, open, emit, false)
  }

  #stop(event: Of<'part_stop'>, open: OpenPart, emit: Emit): void {
    const { choice, part, full } = event
    if (full.t === 'tool_call') {
      const args = mapArguments(full.args, (text, lead) => this.#said(text, 'tool_call', lead))
      if (args !== full.args) this.#changed.add(choice)
      if (args !== '') emit({ e: 'delta', choice, part, d: { args } })
      return emit(args === full.args ? event : { ...event, full: { ...full, args } })
    }
    if (full.t === 'audio' && full.transcript !== undefined) {
      const transcript = this.#said(full.transcript, 'text')
      if (transcript !== full.transcript) this.#changed.add(choice)
      return emit({ ...event, full: { ...full, transcript } })
    }
    // Some parts arrive complete with their end.
    const member = full.t === 'reasoning' || full.t === 'refusal' || full.t === 'text' ? MEMBER_OF[full.t] : null
    if (member !== null && open.channels.size === 0 && 'text' in full && full.text !== '')
      this.#pass(choice, part, this.#channel(open, member), full.text, emit)
    this.#finish(choice, part, open, emit)
    if (isChanged(open)) {
      this.#changed.add(choice)
      if (full.t === 'reasoning') this.#rethought.add(choice)
    }
    const whole = this.#whole(full, open)
    emit({ ...event, full: whole.t === 'reasoning' ? this.#thought(whole, choice) : whole })
  }

  #finish(choice: number, part: number, open: OpenPart, emit: Emit): void {
    for (const channel of open.channels.values()) {
      const rest = channel.scanner.end()
      this.#say(
        choice,
        part,
        channel,
        channel.restorer === null ? rest : channel.restorer.push(rest) + channel.restorer.end(),
        emit,
      )
    }
    this.#deliver(choice, part, open, emit, true)
  }

  #pass(choice: number, part: number, channel: Channel, piece: string, emit: Emit): void {
    channel.taken += piece.length
    const clean = channel.scanner.push(piece)
    this.#say(choice, part, channel, channel.restorer === null ? clean : channel.restorer.push(clean), emit)
  }

  #say(choice: number, part: number, channel: Channel, text: string, emit: Emit): void {
    if (text === '') return
    channel.said += text
    emit({ e: 'delta', choice, part, d: { [channel.member]: text } as Delta })
  }

  /** Sends members after their text, except those that quote a changed text, point into it, or sign a changed thought. */
  #deliver(choice: number, part: number, open: OpenPart, emit: Emit, all: boolean): void {
    if (open.waiting.length === 0) return
    let released = 0
    for (const { scanner } of open.channels.values()) released += scanner.released
    const later: OpenPart['waiting'] = []
    for (const one of open.waiting) {
      if (!all && one.at > released) later.push(one)
      else if (!isChanged(open) || !aboutText(one.delta, open.kind)) emit({ e: 'delta', choice, part, d: one.delta })
    }
    open.waiting = later
  }

  #whole(full: Part, open: OpenPart): Part {
    if (!isChanged(open)) return full
    const said = (member: TextMember): string => open.channels.get(member)?.said ?? ''
    if (full.t === 'text') {
      const { annotations, ...rest } = full
      return { ...rest, text: said('text') }
    }
    if (full.t === 'refusal') return { ...full, text: said('refusal') }
    if (full.t !== 'reasoning') return full
    const { signature, encrypted, ext, ...rest } = full
    const text = open.channels.has('reasoning') ? said('reasoning') : full.text
    return { ...rest, text, ...(open.channels.has('summary') ? { summary: [said('summary')] } : {}) }
  }

  /** The vendor's copy of a thought, which often arrives later, must not contain more than the inspected thought. */
  #thought(full: ThoughtPart, choice: number): ThoughtPart {
    if (full.ext === undefined) return full
    const details = detailsOf(full)
    const elsewhere = details !== '' && details !== full.text
    if (elsewhere && this.#inspection.text(details, THOUGHT) !== details) this.#rethought.add(choice)
    if (!this.#rethought.has(choice)) return full
    this.#changed.add(choice)
    const { signature, encrypted, ext, ...rest } = full
    return rest
  }

  /** After a change, members of the choice that may quote the text are dropped. */
  #finished(event: Of<'finish'>): Of<'finish'> {
    if (event.ext === undefined || !this.#changed.has(event.choice)) return event
    const { ext, ...rest } = event
    return rest
  }

  #said(text: string, place: 'text' | 'tool_call', lead = ''): string {
    const info = { direction: 'output', role: 'assistant', place } as const
    const clean = readAfter(lead, text, (whole) => this.#inspection.text(whole, info))
    return this.#restores === null ? clean : restored(clean, this.#restores)
  }

  #channel(open: OpenPart, member: TextMember): Channel {
    const known = open.channels.get(member)
    if (known !== undefined) return known
    const thought = member === 'reasoning' || member === 'summary'
    const info = { direction: 'output', role: 'assistant', place: thought ? 'reasoning' : 'text' } as const
    const channel: Channel = {
      member,
      scanner: this.#inspection.scanner(info, () => {
        channel.redacted = true
      }),
      // Thoughts go back to their vendor unchanged.
      restorer: this.#restores === null || thought ? null : new Restorer(this.#restores),
      taken: 0,
      said: '',
      redacted: false,
    }
    open.channels.set(member, channel)
    return channel
  }
}

const MEMBER_OF = { text: 'text', refusal: 'refusal', reasoning: 'reasoning' } as const

export function restored(text: string, restores: ReadonlyMap<string, string>): string {
  const restorer = new Restorer(restores)
  return restorer.push(text) + restorer.end()
}

function aboutText(delta: Delta, kind: OpenPart['kind']): boolean {
  return 'logprobs' in delta || 'annotation' in delta || (kind === 'reasoning' && 'signature' in delta)
}

function isChanged({ channels }: OpenPart): boolean {
  for (const { redacted, restorer } of channels.values()) if (redacted || restorer?.used) return true
  return false
}

function takenBy({ channels }: OpenPart): number {
  let taken = 0
  for (const channel of channels.values()) taken += channel.taken
  return taken
}

function keyOf({ choice, part }: { choice: number; part: number }): string {
  return `${choice} ${part}`
}
