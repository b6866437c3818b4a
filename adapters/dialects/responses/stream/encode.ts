// Encodes canonical events as the caller's event stream. `response.created` is first, and there is exactly one terminal event, whose
// response has the whole output as it was streamed. Output indexes follow the order of the items.
import { mergeUsage } from '../../../../core/stream/collect.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { Finish, Usage } from '../../../../core/types/request/answer.ts'
import type { Ext, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, StreamEncoder } from '../../../../core/types/request/dialect.ts'
import type { Delta, PartMeta, StreamEvent } from '../../../../core/types/request/stream.ts'
import { isObject } from '../../shared/fields.ts'
import { usageOrEstimate } from '../../shared/unreported-usage.ts'
import { failureCode } from '../errors.ts'
import { callPrefix, type ItemStatus, imageItem, logprobList, readMark, reasoningItem } from '../response/output-items.ts'
import { echoMembers, headMembers, ownId, signatureId, statusOf } from '../response/response-object.ts'
import { partSecret, secretText } from '../secrets.ts'
import { encodeUsage } from '../usage.ts'
import { FrameWriter } from './frames.ts'
import { CallItem, MessageItem, ReasoningItem, type StreamItem, WholeItem } from './items.ts'

export function encodeStream(codec: CodecContext): StreamEncoder {
  return new ResponseStreamEncoder(codec)
}

type OpenPart =
  | { t: 'said'; message: MessageItem; content: number }
  | { t: 'reasoning'; item: ReasoningItem | null; meta: PartMeta }
  | { t: 'call'; item: CallItem }

class ResponseStreamEncoder implements StreamEncoder {
  readonly #codec: CodecContext
  readonly #frames = new FrameWriter()
  readonly #items: StreamItem[] = []
  readonly #parts = new Map<number, OpenPart>()
  /** The message item that takes the next text, and the upstream's message it represents. */
  #message: MessageItem | null = null
  /** A call whose arguments ended. The next event shows whether it is complete. */
  #called: CallItem | null = null
  #source: string | undefined
  #start: { id: string; model: string; created: number } | null = null
  #id = ''
  #echo = ''
  #usage: Usage | null = null
  /** For an estimate when the upstream reports no usage. */
  readonly #said: Part[] = []
  #finish: Finish | null = null
  #refused = false
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  event(event: StreamEvent): string {
    if (this.#over) return ''
    if (event.e === 'start') {
      this.#start ??= event
      if (event.usage) this.#usage = mergeUsage(this.#usage, event.usage)
      this.#begin()
    } else if (event.e === 'usage') this.#usage = mergeUsage(this.#usage, event.usage)
    else if (event.e === 'finish') {
      if (event.choice !== 0) return ''
      this.#finish = event.finish
      this.#closeCall(this.#lastStatus())
    } else if (event.e === 'end') this.#end(event.ext?.responses)
    else if ('choice' in event && event.choice === 0) {
      this.#begin()
      if (event.e === 'part_start') this.#partStart(event.part, event.kind, event.meta)
      else if (event.e === 'delta') this.#delta(event.part, event.d)
      else {
        this.#said.push(event.full)
        this.#partStop(event.part, event.full)
      }
    }
    return this.#frames.take()
  }

  error(error: GatewayErrorShape): string {
    if (this.#over) return ''
    this.#over = true
    this.#begin()
    this.#closeCall('completed')
    this.#lifecycle('response.failed', 'failed', { code: failureCode(error), message: error.message }, null, this.#usage)
    return this.#frames.take()
  }

  /** `response.created` comes first. Ids are generated when the upstream's start is late or of another dialect. */
  #begin(): void {
    if (this.#id !== '') return
    this.#id = ownId(this.#start?.id, 'resp_', this.#codec)
    this.#start ??= { id: this.#id, model: this.#codec.model, created: Math.floor(this.#codec.now() / 1000) }
    this.#echo = JSON.stringify(echoMembers(this.#codec)).slice(1, -1)
    this.#lifecycle('response.created', 'in_progress', null, null, null)
    this.#lifecycle('response.in_progress', 'in_progress', null, null, null)
  }

  #partStart(part: number, kind: string, meta: PartMeta): void {
    this.#closeCall('completed')
    if (kind === 'text' || kind === 'refusal') {
      if (kind === 'refusal') this.#refused = true
      const message = this.#messageOf(meta.ext)
      this.#parts.set(part, { t: 'said', message, content: message.start(kind) })
    } else if (kind === 'reasoning') {
      // The first content opens it: reasoning without content is not an item.
      this.#parts.set(part, { t: 'reasoning', item: null, meta })
    } else if (kind === 'tool_call') {
      const { signature } = meta
      if (signature !== undefined) this.#whole(reasoningItem(signatureId(meta.itemId, this.#codec), [], secretText(signature)))
      const call = {
        id: meta.id ?? this.#codec.id('call_'),
        name: meta.name ?? '',
        kind: meta.kind ?? 'function',
        namespace: meta.namespace,
      }
      const id = ownId(meta.itemId, callPrefix(meta.kind), this.#codec)
      this.#leaveMessage()
      this.#parts.set(part, { t: 'call', item: this.#open((index) => new CallItem(this.#frames, index, id, call)) })
    }
  }

  #delta(part: number, d: Delta): void {
    const open = this.#parts.get(part)
    if (open === undefined) return
    if (open.t === 'said') {
      if ('text' in d) open.message.delta(open.content, d.text)
      else if ('refusal' in d) open.message.delta(open.content, d.refusal)
      else if ('annotation' in d) open.message.annotate(open.content, d.annotation)
      else if ('logprobs' in d) open.message.logprobs(open.content, logprobList(d.logprobs))
    } else if (open.t === 'call') {
      if ('args' in d && d.args !== '') open.item.delta(d.args)
    } else {
      const text = 'reasoning' in d ? d.reasoning : 'summary' in d ? d.summary : ''
      if (text !== '') this.#reasoning(open).delta(text)
      if ('signature' in d) this.#reasoning(open).secret = secretText(d.signature)
    }
  }

  /** `full` replaces deltas that never arrived. */
  #partStop(part: number, full: Part): void {
    const open = this.#parts.get(part)
    this.#parts.delete(part)
    if (open === undefined) this.#wholePart(full)
    else if (open.t === 'said') {
      if ((full.t === 'text' || full.t === 'refusal') && full.text !== '' && open.message.textOf(open.content) === '') {
        open.message.delta(open.content, full.text)
      }
      open.message.stop(open.content)
    } else if (open.t === 'call') {
      if (full.t === 'tool_call' && full.args !== '' && open.item.args === '') open.item.delta(full.args)
      this.#closeCall('completed')
      this.#called = open.item
    } else if (full.t === 'reasoning') {
      const secret = partSecret(full, this.#codec.caps.family)
      const text = full.text || (full.summary ?? []).join('\n\n')
      if (open.item === null && text === '' && secret === undefined) return
      const item = this.#reasoning(open)
      if (item.text === '' && text !== '') item.delta(text)
      item.secret ??= secret
      item.close()
    }
  }

  #wholePart(full: Part): void {
    if (full.t === 'reasoning') {
      const secret = partSecret(full, this.#codec.caps.family)
      if (secret !== undefined) this.#whole(reasoningItem(this.#codec.id('rs_'), [], secret))
    } else if (full.t === 'image' && full.src.kind === 'base64') this.#whole(imageItem(this.#codec.id('ig_'), full.src.data))
    else if (full.t === 'audio' && full.transcript) {
      const message = this.#messageOf(undefined)
      const content = message.start('text')
      message.delta(content, full.transcript)
      message.stop(content)
    } else if ((full.t === 'server_tool' || full.t === 'opaque') && full.dialect === 'responses' && isObject(full.raw))
      this.#whole(full.raw)
  }

  #messageOf(ext: Ext | undefined): MessageItem {
    const { item, phase } = readMark(ext)
    if (this.#message !== null && item !== this.#source) this.#leaveMessage()
    this.#source = item
    this.#message ??= this.#open((index) => new MessageItem(this.#frames, index, ownId(item, 'msg_', this.#codec), phase))
    return this.#message
  }

  #reasoning(open: Extract<OpenPart, { t: 'reasoning' }>): ReasoningItem {
    if (open.item === null) {
      this.#leaveMessage()
      open.item = this.#open((index) => new ReasoningItem(this.#frames, index, ownId(open.meta.itemId, 'rs_', this.#codec)))
    }
    return open.item
  }

  #whole(item: JsonObject): void {
    this.#leaveMessage()
    this.#open((index) => new WholeItem(this.#frames, index, item))
  }

  #open<T extends StreamItem>(make: (index: number) => T): T {
    const item = make(this.#items.length)
    this.#items.push(item)
    return item
  }

  #leaveMessage(): void {
    this.#message?.yieldTo()
    this.#message = null
  }

  #closeCall(status: ItemStatus): void {
    this.#called?.close(this.#called === this.#items.at(-1) ? status : 'completed')
    this.#called = null
  }

  /** In a truncated answer only the last item is incomplete. */
  #lastStatus(): ItemStatus {
    return statusOf(this.#finish, this.#refused).status === 'completed' ? 'completed' : 'incomplete'
  }

  #end(own: JsonObject | undefined): void {
    this.#over = true
    this.#begin()
    if (own !== undefined) {
      const { completed_at: _, ...members } = own
      this.#echo = JSON.stringify({ ...echoMembers(this.#codec), ...members }).slice(1, -1)
    }
    this.#closeCall(this.#lastStatus())
    for (const item of this.#items) item.close(item === this.#items.at(-1) ? this.#lastStatus() : 'completed')
    const { status, incomplete } = statusOf(this.#finish, this.#refused)
    const error = status === 'failed' ? { code: 'server_error', message: 'The upstream failed to answer.' } : null
    this.#lifecycle(`response.${status}`, status, error, incomplete, usageOrEstimate(this.#usage, this.#said, this.#codec))
  }

  #lifecycle(
    type: string,
    status: string,
    error: { code: string; message: string } | null,
    incomplete: string | null,
    usage: Usage | null,
  ): void {
    const { model, created } = this.#start as { model: string; created: number }
    const completed = status === 'completed' || status === 'incomplete' ? Math.floor(this.#codec.now() / 1000) : null
    const head = headMembers(
      { id: this.#id, created, model, status, completed, error, incomplete, serviceTier: undefined },
      this.#codec.request,
    )
    const output = JSON.stringify(this.#items.map((item) => item.json()))
    const counted = usage === null ? 'null' : JSON.stringify(encodeUsage(usage))
    this.#frames.push(
      type,
      `"response":{${JSON.stringify(head).slice(1, -1)},${this.#echo},"output":${output},"usage":${counted}}`,
    )
  }
}
