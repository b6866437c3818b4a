// Reads the output items of one upstream stream. It records the emitted content of each item, so that nothing is lost or emitted twice.
import type { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Annotation, Ext, Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { isObject, loose } from '../../shared/fields.ts'
import { annotationsOf, argumentsOf, callPart, wholePart } from '../response/decode-items.ts'
import { messageMark } from '../response/output-items.ts'
import { decodeReasoning } from '../secrets.ts'

interface Seen {
  type: string
  id: string
  phase: string
  /** For the parts of a message; created with its first text. */
  mark: Ext | null
  /** By content index: the emitted characters and annotations; `done` contents are not read again. */
  contents: Map<number, { said: boolean; annotations: number; done: boolean }>
  /** Summary indexes that were emitted. */
  summaries: Set<number>
  thought: boolean
  args: boolean
  done: boolean
}

export class ItemReader {
  called = false
  refused = false
  readonly #codec: CodecContext
  readonly #writer: PartWriter
  readonly #seen = new Map<number | string, Seen>()
  /** The item of the open text or reasoning part; another item never continues it. */
  #running: number | string | null = null

  constructor(codec: CodecContext, writer: PartWriter) {
    this.#codec = codec
    this.#writer = writer
  }

  added(event: JsonObject, emit: Emit): void {
    if (!isObject(event.item)) return
    const seen = this.#item(event)
    this.#describe(seen, event.item)
    this.#writer.closeCurrent(0, emit)
    // Arguments in the opening item are read when it is done: some vendors send them there and again as deltas.
    if (isCall(event.item)) this.#startCall(event, event.item, emit)
  }

  done(event: JsonObject, emit: Emit): void {
    if (isObject(event.item)) this.#finish(event, event.item, emit)
  }

  /** Emits items of the final response that had no earlier events. */
  missed(output: readonly Json[], emit: Emit): void {
    if (this.#seen.size > 0) return
    for (const [index, item] of output.entries()) if (isObject(item)) this.#finish({ output_index: index }, item, emit)
  }

  said(event: JsonObject, kind: 'text' | 'refusal', delta: string, emit: Emit): void {
    if (delta === '') return
    const seen = this.#item(event)
    this.#content(seen, event.content_index).said = true
    this.#run(event, emit)
    this.#say(kind, delta, seen, emit)
  }

  saidWhole(event: JsonObject, kind: 'text' | 'refusal', text: string, emit: Emit): void {
    const content = this.#content(this.#item(event), event.content_index)
    if (!content.said && !content.done) this.said(event, kind, text, emit)
  }

  annotated(event: JsonObject, annotations: readonly Annotation[], emit: Emit): void {
    const content = this.#content(this.#item(event), event.content_index)
    content.annotations += annotations.length
    for (const annotation of annotations) this.#writer.annotation(0, annotation, emit)
  }

  contentDone(event: JsonObject, part: JsonObject, emit: Emit): void {
    const content = this.#content(this.#item(event), event.content_index)
    if (content.done) return
    if (part.type === 'refusal') this.saidWhole(event, 'refusal', loose(part.refusal), emit)
    else if (part.type === 'output_text') {
      this.saidWhole(event, 'text', loose(part.text), emit)
      this.annotated(event, annotationsOf(part.annotations).slice(content.annotations), emit)
    }
    content.done = true
    this.#writer.closeCurrent(0, emit)
  }

  summary(event: JsonObject, delta: string, emit: Emit): void {
    if (delta === '') return
    const seen = this.#item(event)
    const index = indexOf(event.summary_index)
    seen.summaries.add(index)
    this.#run(event, emit)
    this.#writer.summary(0, delta, index, emit, reasoningMeta(seen, event))
  }

  summaryWhole(event: JsonObject, text: string, emit: Emit): void {
    if (!this.#item(event).summaries.has(indexOf(event.summary_index))) this.summary(event, text, emit)
  }

  thought(event: JsonObject, delta: string, emit: Emit): void {
    if (delta === '') return
    const seen = this.#item(event)
    seen.thought = true
    this.#run(event, emit)
    this.#writer.reasoning(0, delta, emit, reasoningMeta(seen, event))
  }

  thoughtWhole(event: JsonObject, text: string, emit: Emit): void {
    if (!this.#item(event).thought) this.thought(event, text, emit)
  }

  /** Emits arguments of a function, or the input of a custom tool. */
  args(event: JsonObject, delta: string, emit: Emit): void {
    // A call without an opening event has no name yet. Its complete item follows.
    if (delta === '' || !this.#writer.hasTool(0, keyOf(event))) return
    this.#item(event).args = true
    this.#writer.toolArgs(0, keyOf(event), delta, emit)
  }

  argsWhole(event: JsonObject, args: Json | undefined, emit: Emit): void {
    if (!this.#item(event).args) this.args(event, argumentsOf(args), emit)
  }

  #finish(event: JsonObject, item: JsonObject, emit: Emit): void {
    const seen = this.#item(event)
    if (seen.done) return
    this.#describe(seen, item)
    if (item.type === 'message') this.#finishMessage(event, item, emit)
    else if (item.type === 'reasoning') this.#finishReasoning(event, seen, item, emit)
    else if (isCall(item)) this.#finishCall(event, item, emit)
    else {
      const part = wholePart(item, this.#codec)
      this.#writer.whole(0, part.t === 'image' ? 'image' : 'server_tool', part, emit)
    }
    seen.done = true
  }

  #finishMessage(event: JsonObject, item: JsonObject, emit: Emit): void {
    for (const [index, part] of (Array.isArray(item.content) ? item.content : []).entries()) {
      if (isObject(part)) this.contentDone({ ...event, content_index: index }, part, emit)
    }
    this.#writer.closeCurrent(0, emit)
  }

  #finishReasoning(event: JsonObject, seen: Seen, item: JsonObject, emit: Emit): void {
    const part = decodeReasoning(item, this.#codec.caps.family)
    for (const [index, text] of (part?.summary ?? []).entries()) this.summaryWhole({ ...event, summary_index: index }, text, emit)
    if (part !== null && part.text !== '') this.thoughtWhole(event, part.text, emit)
    if (part?.signature !== undefined) {
      this.#run(event, emit)
      this.#writer.reasoning(0, '', emit, reasoningMeta(seen, event))
      this.#writer.signature(0, part.signature, emit)
    }
    this.#writer.closeCurrent(0, emit)
  }

  #finishCall(event: JsonObject, item: JsonObject, emit: Emit): void {
    const key = keyOf(event)
    if (!this.#writer.hasTool(0, key)) this.#startCall(event, item, emit)
    this.argsWhole(event, item.type === 'custom_tool_call' ? item.input : item.arguments, emit)
    this.#writer.toolStop(0, key, emit)
  }

  #startCall(event: JsonObject, item: JsonObject, emit: Emit): void {
    this.called = true
    const { t: _t, args: _args, caller: _caller, ...meta } = callPart(item, this.#codec)
    this.#writer.toolStart(0, keyOf(event), meta, emit)
  }

  #say(kind: 'text' | 'refusal', text: string, seen: Seen, emit: Emit): void {
    seen.mark ??= messageMark(seen.id, seen.phase)
    if (kind === 'text') this.#writer.text(0, text, emit, seen.mark)
    else {
      this.refused = true
      this.#writer.refusal(0, text, emit, seen.mark)
    }
  }

  #run(event: JsonObject, emit: Emit): void {
    const key = keyOf(event)
    if (key !== this.#running) this.#writer.closeCurrent(0, emit)
    this.#running = key
  }

  #item(event: JsonObject): Seen {
    const key = keyOf(event)
    let seen = this.#seen.get(key)
    if (seen === undefined) {
      seen = {
        type: '',
        id: loose(event.item_id),
        phase: '',
        mark: null,
        contents: new Map(),
        summaries: new Set(),
        thought: false,
        args: false,
        done: false,
      }
      this.#seen.set(key, seen)
    }
    return seen
  }

  #describe(seen: Seen, item: JsonObject): void {
    seen.type = loose(item.type)
    if (seen.id === '') seen.id = loose(item.id)
    seen.phase = loose(item.phase)
  }

  #content(seen: Seen, index: Json | undefined): { said: boolean; annotations: number; done: boolean } {
    const at = indexOf(index)
    let content = seen.contents.get(at)
    if (content === undefined) {
      content = { said: false, annotations: 0, done: false }
      seen.contents.set(at, content)
    }
    return content
  }
}

/** The output index identifies an item, because some vendors change ids between the events of one item. */
function keyOf(event: JsonObject): number | string {
  if (typeof event.output_index === 'number') return event.output_index
  return loose(event.item_id) || (isObject(event.item) ? loose(event.item.id) : '')
}

function indexOf(value: Json | undefined): number {
  return typeof value === 'number' && value >= 0 ? value : 0
}

function isCall(item: JsonObject): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}

function reasoningMeta(seen: Seen, event: JsonObject): { itemId?: string } {
  const itemId = seen.id || loose(event.item_id)
  return itemId === '' ? {} : { itemId }
}
