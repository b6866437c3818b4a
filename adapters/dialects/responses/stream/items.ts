// Output items while they stream. Each writes its own frames in the order that official clients need, and returns its current state at
// any time.
import { TextBuilder } from '../../../../core/text/text-builder.ts'
import type { Annotation, Frozen, Json, JsonObject, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import { inputText, mayBeWrapped } from '../request/custom-tool.ts'
import { encodeAnnotation, isAboutAll } from '../response/annotations.ts'
import { callItem, type ItemStatus, messageItem, reasoningItem, refusalContent, textContent } from '../response/output-items.ts'
import type { FrameWriter } from './frames.ts'

export interface StreamItem {
  readonly done: boolean
  /** Sends the missing frames up to `response.output_item.done`. */
  close(status?: ItemStatus): void
  /** Returns the item's current state; `incomplete` while it is open. */
  json(): JsonObject
}

interface Content {
  kind: 'text' | 'refusal'
  text: TextBuilder
  annotations: Frozen<Json>[]
  /** Citations of the whole text; sent when its length is known. */
  waiting: Frozen<Annotation>[]
  logprobs: Frozen<Json>[]
  open: boolean
  /** The members that identify it. */
  at: string
}

export class MessageItem implements StreamItem {
  done = false
  #status: ItemStatus = 'incomplete'
  readonly #frames: FrameWriter
  readonly #id: string
  readonly #phase: string | undefined
  readonly #index: number
  readonly #contents: Content[] = []
  #closing = false

  constructor(frames: FrameWriter, index: number, id: string, phase?: string) {
    this.#frames = frames
    this.#index = index
    this.#id = id
    this.#phase = phase
    added(frames, index, messageItem(id, [], 'in_progress', phase))
  }

  /** Starts a content part and returns its index. */
  start(kind: 'text' | 'refusal'): number {
    const index = this.#contents.length
    const at = `"item_id":${JSON.stringify(this.#id)},"output_index":${this.#index},"content_index":${index}`
    const content: Content = { kind, text: new TextBuilder(), annotations: [], waiting: [], logprobs: [], open: true, at }
    this.#contents.push(content)
    this.#frames.push('response.content_part.added', `${at},"part":${JSON.stringify(wireContent(content))}`)
    return index
  }

  delta(index: number, text: string): void {
    const content = this.#contents[index] as Content
    content.text.add(text)
    if (content.kind === 'text')
      this.#frames.push('response.output_text.delta', `${content.at},"delta":${JSON.stringify(text)},"logprobs":[]`)
    else this.#frames.push('response.refusal.delta', `${content.at},"delta":${JSON.stringify(text)}`)
  }

  annotate(index: number, annotation: Frozen<Annotation>): void {
    const content = this.#contents[index] as Content
    if (content.kind !== 'text') return
    if (isAboutAll(annotation)) content.waiting.push(annotation)
    else this.#tell(content, annotation)
  }

  #tell(content: Content, annotation: Frozen<Annotation>): void {
    const wire = encodeAnnotation(annotation, content.text.toString().length)
    if (wire === null) return
    this.#frames.push(
      'response.output_text.annotation.added',
      `${content.at},"annotation_index":${content.annotations.length},"annotation":${JSON.stringify(wire)}`,
    )
    content.annotations.push(wire)
  }

  /** Log probabilities are sent in the `.done` frames and the item, because they arrive separately from their text. */
  logprobs(index: number, list: readonly Frozen<Json>[]): void {
    this.#contents[index]?.logprobs.push(...list)
  }

  textOf(index: number): string {
    return this.#contents[index]?.text.toString() ?? ''
  }

  stop(index: number): void {
    const content = this.#contents[index]
    if (!content?.open) return
    content.open = false
    for (const annotation of content.waiting) this.#tell(content, annotation)
    const { at } = content
    if (content.kind === 'text') {
      this.#frames.push(
        'response.output_text.done',
        `${at},"text":${JSON.stringify(content.text.toString())},"logprobs":${JSON.stringify(content.logprobs)}`,
      )
    } else {
      this.#frames.push('response.refusal.done', `${at},"refusal":${JSON.stringify(content.text.toString())}`)
    }
    this.#frames.push('response.content_part.done', `${at},"part":${JSON.stringify(wireContent(content))}`)
    if (this.#closing) this.close()
  }

  /** Another item starts: this one ends when its open content ends. */
  yieldTo(): void {
    if (this.#contents.some((content) => content.open)) this.#closing = true
    else this.close()
  }

  close(status: ItemStatus = 'completed'): void {
    if (this.done) return
    this.#closing = false
    for (const index of this.#contents.keys()) this.stop(index)
    this.done = true
    this.#status = status
    finished(this.#frames, this.#index, this.json())
  }

  json(): JsonObject {
    return messageItem(this.#id, this.#contents.map(wireContent), this.#status, this.#phase)
  }
}

export class ReasoningItem implements StreamItem {
  done = false
  secret: string | undefined
  readonly #frames: FrameWriter
  readonly #id: string
  readonly #index: number
  readonly #at: string
  #summary: string | null = null

  constructor(frames: FrameWriter, index: number, id: string) {
    this.#frames = frames
    this.#index = index
    this.#id = id
    this.#at = `"item_id":${JSON.stringify(id)},"output_index":${index},"summary_index":0`
    added(frames, index, reasoningItem(id, [], undefined))
  }

  /** Writes the whole text as one summary part: a canonical delta does not show where the next part begins. */
  delta(text: string): void {
    if (this.#summary === null) {
      this.#summary = ''
      this.#frames.push('response.reasoning_summary_part.added', `${this.#at},"part":{"type":"summary_text","text":""}`)
    }
    this.#summary += text
    this.#frames.push('response.reasoning_summary_text.delta', `${this.#at},"delta":${JSON.stringify(text)}`)
  }

  get text(): string {
    return this.#summary ?? ''
  }

  close(): void {
    if (this.done) return
    this.done = true
    if (this.#summary !== null) {
      const text = JSON.stringify(this.#summary)
      this.#frames.push('response.reasoning_summary_text.done', `${this.#at},"text":${text}`)
      this.#frames.push('response.reasoning_summary_part.done', `${this.#at},"part":{"type":"summary_text","text":${text}}`)
    }
    finished(this.#frames, this.#index, this.json())
  }

  json(): JsonObject {
    return reasoningItem(this.#id, this.#summary === null ? [] : [this.#summary], this.secret)
  }
}

export class CallItem implements StreamItem {
  done = false
  args = ''
  #status: ItemStatus = 'incomplete'
  readonly #frames: FrameWriter
  readonly #id: string
  readonly #index: number
  readonly #call: Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'kind'>
  readonly #at: string

  constructor(frames: FrameWriter, index: number, id: string, call: Pick<ToolCallPart, 'id' | 'name' | 'namespace' | 'kind'>) {
    this.#frames = frames
    this.#index = index
    this.#id = id
    this.#call = call
    this.#at = `"item_id":${JSON.stringify(id)},"output_index":${index}`
    added(frames, index, callItem(id, call, '', 'in_progress'))
  }

  delta(args: string): void {
    this.args += args
    if (this.#call.kind !== 'custom')
      this.#frames.push('response.function_call_arguments.delta', `${this.#at},"delta":${JSON.stringify(args)}`)
    else if (!mayBeWrapped(this.args)) this.#inputDelta(args)
  }

  close(status: ItemStatus = 'completed'): void {
    if (this.done) return
    this.done = true
    this.#status = status
    if (this.#call.kind === 'custom') {
      const input = inputText(this.args)
      if (mayBeWrapped(this.args)) this.#inputDelta(input)
      this.#frames.push('response.custom_tool_call_input.done', `${this.#at},"input":${JSON.stringify(input)}`)
    } else {
      // Clients parse the arguments and concatenate the deltas.
      if (this.args === '' && status === 'completed') this.delta('{}')
      const members = `"name":${JSON.stringify(this.#call.name)},"arguments":${JSON.stringify(this.args)}`
      this.#frames.push('response.function_call_arguments.done', `${this.#at},${members}`)
    }
    finished(this.#frames, this.#index, this.json())
  }

  #inputDelta(text: string): void {
    this.#frames.push('response.custom_tool_call_input.delta', `${this.#at},"delta":${JSON.stringify(text)}`)
  }

  json(): JsonObject {
    return callItem(this.#id, this.#call, this.args, this.#status)
  }
}

/** An item that arrives complete. */
export class WholeItem implements StreamItem {
  readonly done = true
  readonly #item: JsonObject

  constructor(frames: FrameWriter, index: number, item: JsonObject) {
    this.#item = item
    added(frames, index, item)
    finished(frames, index, item)
  }

  close(): void {}

  json(): JsonObject {
    return this.#item
  }
}

function wireContent(content: Content): JsonObject {
  const text = content.text.toString()
  return content.kind === 'text' ? textContent(text, content.annotations, content.logprobs) : refusalContent(text)
}

function added(frames: FrameWriter, index: number, item: JsonObject): void {
  frames.push('response.output_item.added', `"output_index":${index},"item":${JSON.stringify(item)}`)
}

function finished(frames: FrameWriter, index: number, item: JsonObject): void {
  frames.push('response.output_item.done', `"output_index":${index},"item":${JSON.stringify(item)}`)
}
