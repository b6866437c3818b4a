// Splits the text parts of a canonical stream into text and reasoning. Parts are renumbered; all other parts pass unchanged, in their
// place.
import { type Delta, type Emit, PartWriter, type StreamEvent, type StreamTransform } from '../../core/index.ts'
import { type TagSink, ThinkTagParser } from './tag-parser.ts'

interface ChoiceState {
  readonly parser: ThinkTagParser
  /** The upstream's open text parts, and whether a piece of them has arrived. */
  readonly texts: Map<number, boolean>
  /** The new index of every other part. */
  readonly indexes: Map<number, number>
  /** Members that follow a text whose first delta is still held. */
  waiting: Delta[]
}

export class SplitStream implements StreamTransform {
  readonly #writer = new PartWriter()
  readonly #choices = new Map<number, ChoiceState>()
  readonly #thinking: (choice: number) => boolean

  /** `thinking`: choices that start inside a thought. */
  constructor(thinking: (choice: number) => boolean = () => false) {
    this.#thinking = thinking
  }

  event(event: StreamEvent, emit: Emit): void {
    switch (event.e) {
      case 'part_start':
        return this.#start(event, emit)
      case 'delta':
        return this.#delta(event, emit)
      case 'part_stop':
        return this.#stop(event, emit)
      case 'finish':
        this.#release(event.choice, emit)
        return emit(event)
      default:
        return emit(event)
    }
  }

  flush(emit: Emit): void {
    for (const choice of this.#choices.keys()) this.#release(choice, emit)
  }

  #start(event: Extract<StreamEvent, { e: 'part_start' }>, emit: Emit): void {
    const state = this.#choice(event.choice)
    if (event.kind === 'text') {
      state.texts.set(event.part, false)
      return
    }
    const part = this.#writer.claim(event.choice, emit)
    state.indexes.set(event.part, part)
    emit({ ...event, part })
  }

  #delta(event: Extract<StreamEvent, { e: 'delta' }>, emit: Emit): void {
    const { choice, d } = event
    const state = this.#choice(choice)
    if (!state.texts.has(event.part)) return emit({ ...event, part: state.indexes.get(event.part) ?? event.part })
    if ('text' in d) {
      state.texts.set(event.part, true)
      state.parser.push(d.text, this.#sink(choice, emit))
    } else state.waiting.push(d)
    this.#deliver(choice, state, emit)
  }

  #stop(event: Extract<StreamEvent, { e: 'part_stop' }>, emit: Emit): void {
    const { choice, full } = event
    const state = this.#choice(choice)
    if (!state.texts.has(event.part)) return emit({ ...event, part: state.indexes.get(event.part) ?? event.part })
    if (state.texts.get(event.part) === false && full.t === 'text') state.parser.push(full.text, this.#sink(choice, emit))
    state.texts.delete(event.part)
    this.#release(choice, emit)
  }

  /** A tag does not continue in another part. */
  #release(choice: number, emit: Emit): void {
    const state = this.#choice(choice)
    state.parser.release(this.#sink(choice, emit))
    this.#deliver(choice, state, emit)
    for (const delta of state.waiting) if ('signature' in delta) this.#writer.signature(choice, delta.signature, emit)
    state.waiting = []
    this.#writer.closeCurrent(choice, emit)
  }

  /** Annotations go to text; token data goes to the parts that now contain the tokens. */
  #deliver(choice: number, state: ChoiceState, emit: Emit): void {
    const running = this.#writer.running(choice)
    if (running === null || state.waiting.length === 0) return
    const later: Delta[] = []
    for (const delta of state.waiting) {
      if ('logprobs' in delta || 'raw' in delta) emit({ e: 'delta', choice, part: running.index, d: delta })
      else if (running.kind !== 'text') later.push(delta)
      else if ('annotation' in delta) this.#writer.annotation(choice, delta.annotation, emit)
      else if ('signature' in delta) this.#writer.signature(choice, delta.signature, emit)
    }
    state.waiting = later
  }

  #sink(choice: number, emit: Emit): TagSink {
    return {
      text: (piece) => this.#writer.text(choice, piece, emit),
      reasoning: (piece) => this.#writer.reasoning(choice, piece, emit),
    }
  }

  #choice(index: number): ChoiceState {
    let state = this.#choices.get(index)
    if (state === undefined) {
      const parser = new ThinkTagParser(this.#thinking(index))
      state = { parser, texts: new Map(), indexes: new Map(), waiting: [] }
      this.#choices.set(index, state)
    }
    return state
  }
}
