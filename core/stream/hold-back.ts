// Replaces what matches a pattern in the texts of answers, whole and streamed alike. In a stream the end of a text waits until no match
// can begin in it any more.
import type { CanonicalResponse, Choice } from '../types/request/answer.ts'
import type { Frozen, Part } from '../types/request/canonical.ts'
import type { Delta, Emit, StreamEvent, StreamTransform } from '../types/request/stream.ts'
import { HeldText } from './held-text.ts'

export interface HoldBackOptions {
  /** Must have the flag `g`. Avoid a pattern that can backtrack, because models and their users choose the text. */
  readonly pattern: RegExp
  /** Replaces one match. */
  readonly replace: string | ((match: string) => string)
  /** Longest match, in UTF-16 units, with what the pattern looks at around it. A stream may cut a longer one. Default 256. */
  readonly window?: number
}

/** The same change for a stream and for a whole answer. */
export interface HoldBack {
  /** For the hook `stream`: a transform for one answer. */
  stream(): StreamTransform
  /** For the hook `response`. */
  response(response: Frozen<CanonicalResponse>): CanonicalResponse
}

const WINDOW = 256

/**
 * Changes text, reasoning, summaries, refusals and the strings in the arguments of tool calls. Arguments of a call arrive in one piece. A
 * changed part loses its annotations and its signature; log probabilities and members that only the vendor knows (`ext`) are removed
 * from all answers, because they may quote the original. A stream that breaks discards the text that is held.
 * @throws TypeError for a pattern without the flag `g`, RangeError for a window below 1
 */
export function holdBack({ pattern, replace, window = WINDOW }: HoldBackOptions): HoldBack {
  if (!pattern.global) throw new TypeError('The pattern of holdBack() needs the flag `g`.')
  if (!(window >= 1)) throw new RangeError('The window of holdBack() must be at least 1.')
  const of = typeof replace === 'string' ? () => replace : replace
  const cleaned = (text: string): string => text.replace(pattern, (match) => (match === '' ? '' : of(match)))
  const part = (full: Frozen<Part>): Part => changedPart(full as Part, cleaned)
  return {
    stream: () => new HeldStream(() => new HeldText(pattern, of, window), part),
    response({ choices, ...rest }) {
      const changed = choices.map(({ ext: _ext, logprobs: _logprobs, parts, ...choice }) => ({
        ...choice,
        parts: parts.map(part),
      }))
      return { ...(rest as CanonicalResponse), ext: {}, choices: changed as Choice[] }
    },
  }
}

type Channel = 'text' | 'reasoning' | 'summary' | 'refusal'
const CHANNELS: readonly Channel[] = ['text', 'reasoning', 'summary', 'refusal']

interface OpenPart {
  readonly held: Map<Channel, HeldText>
  /** Deltas that quote the text: they follow it, if it did not change. */
  readonly quotes: Delta[]
  args: boolean
}

class HeldStream implements StreamTransform {
  readonly #open = new Map<string, OpenPart>()
  readonly #text: () => HeldText
  readonly #part: (full: Part) => Part

  constructor(text: () => HeldText, part: (full: Part) => Part) {
    this.#text = text
    this.#part = part
  }

  event(event: StreamEvent, emit: Emit): void {
    if (event.e === 'delta') return this.#delta(event, emit)
    if (event.e === 'part_stop') return this.#stop(event, emit)
    if (event.e === 'part_start' && event.meta.ext !== undefined) {
      const { ext: _, ...meta } = event.meta
      return emit({ ...event, meta })
    }
    return emit('ext' in event ? { ...event, ext: {} } : event)
  }

  #delta(event: Extract<StreamEvent, { e: 'delta' }>, emit: Emit): void {
    const { d } = event
    const open = this.#at(event)
    const channel = CHANNELS.find((name) => name in d)
    if (channel !== undefined) {
      const held = open.held.get(channel) ?? this.#text()
      open.held.set(channel, held)
      const ready = held.push((d as Record<Channel, string>)[channel])
      if (ready !== '') emit({ ...event, d: { [channel]: ready } as unknown as Delta })
    } else if ('args' in d) open.args = true
    else if ('annotation' in d || 'signature' in d) open.quotes.push(d)
    else if (!('logprobs' in d)) emit(event)
  }

  #stop(event: Extract<StreamEvent, { e: 'part_stop' }>, emit: Emit): void {
    const { choice, part } = event
    const open = this.#at(event)
    this.#open.delete(`${choice}.${part}`)
    const delta = (d: Delta): void => emit({ e: 'delta', choice, part, d })
    for (const [channel, held] of open.held) {
      const rest = held.end()
      if (rest !== '') delta({ [channel]: rest } as unknown as Delta)
    }
    const full = this.#part(event.full)
    if (open.args && full.t === 'tool_call' && full.args !== '') delta({ args: full.args })
    if (sameTexts(event.full, full)) for (const quote of open.quotes) delta(quote)
    emit({ ...event, full })
  }

  #at({ choice, part }: { choice: number; part: number }): OpenPart {
    const key = `${choice}.${part}`
    const open = this.#open.get(key) ?? { held: new Map(), quotes: [], args: false }
    this.#open.set(key, open)
    return open
  }
}

function changedPart({ ext: _, ...full }: Part, cleaned: (text: string) => string): Part {
  if (full.t === 'tool_call')
    return { ...full, args: full.kind === 'custom' ? cleaned(full.args) : changedArgs(full.args, cleaned) }
  if (full.t === 'text' || full.t === 'refusal') {
    const text = cleaned(full.text)
    return text === full.text ? full : full.t === 'text' ? { t: 'text', text } : { ...full, text }
  }
  if (full.t !== 'reasoning') return full
  const changed = { ...full, text: cleaned(full.text), ...(full.summary && { summary: full.summary.map(cleaned) }) }
  if (sameTexts(full, changed)) return full
  const { signature: _signature, encrypted: _encrypted, ...rest } = changed
  return rest
}

function sameTexts(one: Part, other: Part): boolean {
  const texts = (part: Part): string =>
    'text' in part ? [part.text, ...('summary' in part ? (part.summary ?? []) : [])].join('\0') : ''
  return texts(one) === texts(other)
}

const JSON_STRING = /"(?:[^"\\]|\\.)*"/g

/** Changes the strings of JSON text, whose characters may be escaped. The rest, such as the digits of numbers, stays as it is. */
function changedArgs(args: string, cleaned: (text: string) => string): string {
  return args.replace(JSON_STRING, (literal) => {
    try {
      const text = JSON.parse(literal) as string
      const changed = cleaned(text)
      return changed === text ? literal : JSON.stringify(changed)
    } catch {
      return cleaned(literal)
    }
  })
}
