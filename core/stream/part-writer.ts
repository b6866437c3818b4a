// Turns a decoder's fragments into well-formed canonical parts: part_start, deltas, part_stop with the accumulated part. Text-like parts
// continue until another kind starts. Tool calls have the upstream's own key and may interleave.
import { TextBuilder } from '../text/text-builder.ts'
import type { Annotation, Ext, Json, Part, ReasoningPart, Signature } from '../types/request/canonical.ts'
import type { Emit, PartKind, PartMeta } from '../types/request/stream.ts'

interface OpenPart {
  index: number
  kind: PartKind
  full: Part
  /** The text or the arguments so far; `full` gets them when the part ends. */
  written: TextBuilder
}

interface ChoiceState {
  next: number
  /** The open text-like part. */
  current: OpenPart | null
  tools: Map<string | number, OpenPart>
}

export class PartWriter {
  readonly #choices = new Map<number, ChoiceState>()

  /** Adds text. `ext` is used when this text opens the part. */
  text(choice: number, text: string, emit: Emit, ext?: Ext): void {
    if (text === '') return
    const marks = ext === undefined ? {} : { ext }
    const part = this.#continue(choice, 'text', () => ({ t: 'text', text: '', ...marks }), marks, emit)
    part.written.add(text)
    emit({ e: 'delta', choice, part: part.index, d: { text } })
  }

  reasoning(choice: number, text: string, emit: Emit, meta: PartMeta = {}): void {
    const part = this.#continue(
      choice,
      'reasoning',
      () => ({ t: 'reasoning', text: '', ...(meta.itemId ? { itemId: meta.itemId } : {}) }),
      meta,
      emit,
    )
    if (text === '') return
    part.written.add(text)
    emit({ e: 'delta', choice, part: part.index, d: { reasoning: text } })
  }

  /** Adds a fragment of a reasoning summary; `index` numbers the summary parts of the open reasoning part. */
  summary(choice: number, text: string, index: number, emit: Emit, meta: PartMeta = {}): void {
    const part = this.#continue(
      choice,
      'reasoning',
      () => ({ t: 'reasoning', text: '', ...(meta.itemId ? { itemId: meta.itemId } : {}) }),
      meta,
      emit,
    )
    if (part.full.t !== 'reasoning' || text === '') return
    part.full.summary ??= []
    const summary = part.full.summary
    // A blank line separates summary parts in dialects with a single reasoning text.
    const lead = index > 0 && summary[index] === undefined ? '\n\n' : ''
    while (summary.length <= index) summary.push('')
    summary[index] += text
    emit({ e: 'delta', choice, part: part.index, d: { summary: lead + text } })
  }

  refusal(choice: number, text: string, emit: Emit, ext?: Ext): void {
    if (text === '') return
    const marks = ext === undefined ? {} : { ext }
    const part = this.#continue(choice, 'refusal', () => ({ t: 'refusal', text: '', ...marks }), marks, emit)
    part.written.add(text)
    emit({ e: 'delta', choice, part: part.index, d: { refusal: text } })
  }

  /** Attaches a signature to the open reasoning or text part; opens a reasoning part when there is none. */
  signature(choice: number, signature: Signature, emit: Emit): void {
    const state = this.#state(choice)
    const part = state.current ?? this.#continue(choice, 'reasoning', () => ({ t: 'reasoning', text: '' }), {}, emit)
    if (part.full.t === 'reasoning' || part.full.t === 'text') part.full.signature = signature
    emit({ e: 'delta', choice, part: part.index, d: { signature } })
  }

  /**
   * Returns the open reasoning part, and opens one when there is none. The vendor's other members of the thought are emitted with the
   * whole part.
   */
  thought(choice: number, emit: Emit): ReasoningPart & Part {
    const part = this.#continue(choice, 'reasoning', () => ({ t: 'reasoning', text: '' }), {}, emit)
    return part.full as ReasoningPart & Part
  }

  annotation(choice: number, annotation: Annotation, emit: Emit): void {
    const part = this.#state(choice).current
    if (part?.full.t !== 'text') return
    part.full.annotations = [...(part.full.annotations ?? []), annotation]
    emit({ e: 'delta', choice, part: part.index, d: { annotation } })
  }

  /** Emits a part that is complete at once (image, redacted reasoning, server tool). */
  whole(choice: number, kind: PartKind, full: Part, emit: Emit): void {
    this.closeCurrent(choice, emit)
    const index = this.#state(choice).next++
    emit({ e: 'part_start', choice, part: index, kind, meta: 'raw' in full ? { raw: full.raw } : {} })
    emit({ e: 'part_stop', choice, part: index, full })
  }

  /** Reserves the index of a part that another writer emits. Like every part, it ends the current text-like part. */
  claim(choice: number, emit: Emit): number {
    this.closeCurrent(choice, emit)
    return this.#state(choice).next++
  }

  /** Returns the open text-like part: deltas that are not accumulated (logprobs, raw) belong to it. */
  running(choice: number): { readonly index: number; readonly kind: PartKind } | null {
    return this.#state(choice).current
  }

  hasTool(choice: number, key: string | number): boolean {
    return this.#state(choice).tools.has(key)
  }

  toolStart(
    choice: number,
    key: string | number,
    meta: {
      id: string
      idMinted?: boolean
      name: string
      namespace?: string
      kind?: 'function' | 'custom'
      itemId?: string
      signature?: Signature
      caller?: Json
    },
    emit: Emit,
  ): void {
    this.closeCurrent(choice, emit)
    const state = this.#state(choice)
    const { kind = 'function', idMinted = false, ...rest } = meta
    const full: Part = { t: 'tool_call', args: '', kind, idMinted, ...rest }
    const part: OpenPart = { index: state.next++, kind: 'tool_call', full, written: new TextBuilder() }
    state.tools.set(key, part)
    emit({ e: 'part_start', choice, part: part.index, kind: 'tool_call', meta: { ...meta, kind, idMinted } })
  }

  toolArgs(choice: number, key: string | number, args: string, emit: Emit): void {
    const part = this.#state(choice).tools.get(key)
    if (part?.full.t !== 'tool_call' || args === '') return
    part.written.add(args)
    emit({ e: 'delta', choice, part: part.index, d: { args } })
  }

  /** Returns the arguments so far; undefined when there is no such call. */
  argsOf(choice: number, key: string | number): string | undefined {
    const part = this.#state(choice).tools.get(key)
    return part?.full.t === 'tool_call' ? part.written.toString() : undefined
  }

  toolStop(choice: number, key: string | number, emit: Emit): void {
    const state = this.#state(choice)
    const part = state.tools.get(key)
    if (part === undefined) return
    state.tools.delete(key)
    emit({ e: 'part_stop', choice, part: part.index, full: complete(part) })
  }

  /** Ends the open text-like part, so that the next one gets its own index. */
  closeCurrent(choice: number, emit: Emit): void {
    const state = this.#state(choice)
    if (state.current === null) return
    const part = state.current
    state.current = null
    emit({ e: 'part_stop', choice, part: part.index, full: complete(part) })
  }

  /** Ends all open parts, in index order. */
  closeAll(choice: number, emit: Emit): void {
    this.closeCurrent(choice, emit)
    for (const key of [...this.#state(choice).tools.keys()]) this.toolStop(choice, key, emit)
  }

  /** Returns the choices seen so far. */
  choices(): number[] {
    return [...this.#choices.keys()]
  }

  #state(choice: number): ChoiceState {
    let state = this.#choices.get(choice)
    if (state === undefined) {
      state = { next: 0, current: null, tools: new Map() }
      this.#choices.set(choice, state)
    }
    return state
  }

  #continue(choice: number, kind: PartKind, make: () => Part, meta: PartMeta, emit: Emit): OpenPart {
    const state = this.#state(choice)
    if (state.current?.kind === kind) return state.current
    this.closeCurrent(choice, emit)
    const part: OpenPart = { index: state.next++, kind, full: make(), written: new TextBuilder() }
    state.current = part
    emit({ e: 'part_start', choice, part: part.index, kind, meta })
    return part
  }
}

function complete({ full, written }: OpenPart): Part {
  if (full.t === 'tool_call') full.args = written.toString()
  else if (full.t === 'text' || full.t === 'reasoning' || full.t === 'refusal') full.text = written.toString()
  return full
}
