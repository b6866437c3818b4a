// Reads GenerateContentResponse objects into canonical events. Some backends send STOP with every chunk, so it is held until close().
import { type RawReader, rawReader } from '../../../../core/json/json-path.ts'
import { hasBigNumber } from '../../../../core/json/raw-json.ts'
import { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Usage } from '../../../../core/types/request/answer.ts'
import type { Ext, Json, JsonObject, Part, Signature } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { settleFinish } from '../../shared/finish.ts'
import { isObject, listField } from '../fields.ts'
import { finishOf, nativeFinish } from '../finish.ts'
import { audioFormat, mediaKind } from '../media.ts'
import { type PartialCall, partialCall } from '../stream/partial-args.ts'
import { callerTool } from '../tool-names.ts'
import { usageOf } from '../usage.ts'
import { customInput } from './custom-input.ts'
import { annotationsOf } from './grounding.ts'
import { logprobsOf } from './logprobs.ts'
import { addOwn } from './own-members.ts'

interface ChoiceState {
  finish: string | null
  /** The prompt was refused; then `finish` is the block reason. */
  blocked: boolean
  /** A chunk without a finish reason was seen, so the next chunk with one is the last. */
  unfinished: boolean
  /** True when `finish` is the last value. */
  last: boolean
  done: boolean
  calls: number
  /** The whole text, because offsets of citations count over the whole answer. */
  text: string
  own: JsonObject | undefined
  safety: Json | undefined
  partial: PartialCall | null
  /** The index of the latest part, which logprobs belong to. */
  part: number
}

export class ResponseReader {
  readonly #codec: CodecContext
  readonly #writer = new PartWriter()
  readonly #choices = new Map<number, ChoiceState>()
  #started = false
  #usage: Usage | null = null
  #feedback: Json | undefined

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  /** True after a finish reason or a block: the end of the stream is then a normal end. */
  get finished(): boolean {
    return [...this.#choices.values()].some((choice) => choice.finish !== null)
  }

  /** Members of the answer so far that only this dialect has. */
  get ext(): Ext | undefined {
    return this.#feedback === undefined ? undefined : { generate_content: { promptFeedback: this.#feedback } }
  }

  /** Reads one response. `text` is the JSON that it was parsed from: arguments with big numbers are read from it. */
  read(response: JsonObject, text: () => string, emit: Emit): void {
    this.#start(response, emit)
    const raw = rawReader(text)
    for (const [position, candidate] of listField(response.candidates).entries()) {
      if (isObject(candidate)) this.#candidate(candidate, position, raw, emit)
    }
    if (response.promptFeedback !== undefined) this.#feedback = response.promptFeedback
    const block = isObject(response.promptFeedback) ? response.promptFeedback.blockReason : undefined
    if (typeof block === 'string' && !block.endsWith('_UNSPECIFIED')) this.#block(block)
    this.#report(response.usageMetadata, emit)
    for (const [index, choice] of this.#choices) if (choice.last) this.#finish(index, choice, emit)
  }

  /** Ends every open choice. */
  close(emit: Emit): void {
    for (const [index, choice] of this.#choices) this.#finish(index, choice, emit)
  }

  /** Usage is cumulative: the last block applies, and a chunk without one does not erase it. */
  #report(metadata: Json | undefined, emit: Emit): void {
    const usage = usageOf(metadata)
    if (usage === null || (this.#usage?.outputTotal === usage.outputTotal && this.#usage.total === usage.total)) return
    this.#usage = usage
    emit({ e: 'usage', usage })
  }

  #finish(index: number, choice: ChoiceState, emit: Emit): void {
    if (choice.done) return
    choice.done = true
    const native = choice.finish ?? ''
    const finish = choice.blocked ? 'content_filter' : finishOf(native)
    // Incomplete arguments are not used.
    if (choice.partial !== null && finish === 'stop') this.#endPartial(index, choice, emit)
    for (const annotation of annotationsOf(choice.own?.groundingMetadata, choice.text))
      this.#writer.annotation(index, annotation, emit)
    this.#writer.closeAll(index, emit)
    const { own, safety } = choice
    emit({
      e: 'finish',
      choice: index,
      finish: settleFinish(finish, choice.calls > 0),
      native,
      ...(safety === undefined ? {} : { safety }),
      ...(own === undefined ? {} : { ext: { generate_content: own } }),
    })
  }

  #block(reason: string): void {
    const choice = this.#choice(0)
    if (choice.finish === null) Object.assign(choice, { finish: reason, blocked: true, last: true })
  }

  #start(response: JsonObject, emit: Emit): void {
    if (this.#started) return
    this.#started = true
    const created = typeof response.createTime === 'string' ? Date.parse(response.createTime) : Number.NaN
    emit({
      e: 'start',
      id: typeof response.responseId === 'string' && response.responseId !== '' ? response.responseId : this.#codec.id(''),
      model:
        typeof response.modelVersion === 'string' && response.modelVersion !== '' ? response.modelVersion : this.#codec.model,
      created: Math.floor((Number.isNaN(created) ? this.#codec.now() : created) / 1000),
    })
  }

  #candidate(candidate: JsonObject, position: number, raw: RawReader, emit: Emit): void {
    const index = typeof candidate.index === 'number' ? candidate.index : position
    const choice = this.#choice(index)
    if (choice.done) return
    const track: Emit = (event) => {
      if (event.e === 'part_start') choice.part = event.part
      emit(event)
    }
    const content = isObject(candidate.content) ? candidate.content : {}
    for (const [place, part] of listField(content.parts ?? undefined).entries()) {
      if (isObject(part))
        this.#part(
          index,
          choice,
          part,
          () => raw('candidates', position, 'content', 'parts', place, 'functionCall', 'args'),
          track,
        )
    }
    const logprobs = logprobsOf(candidate.logprobsResult)
    if (logprobs !== undefined && choice.part >= 0) emit({ e: 'delta', choice: index, part: choice.part, d: { logprobs } })
    choice.own = addOwn(choice.own, candidate)
    if (candidate.safetyRatings !== undefined) choice.safety = candidate.safetyRatings
    const finish = nativeFinish(candidate.finishReason)
    if (finish === null) choice.unfinished = true
    else {
      choice.finish = finish
      choice.last = choice.unfinished || finish !== 'STOP' || !says(content)
    }
  }

  #part(index: number, choice: ChoiceState, part: JsonObject, raw: () => string | undefined, emit: Emit): void {
    const signature = this.#signature(part)
    if (isObject(part.functionCall)) {
      this.#functionCall(index, choice, part.functionCall, signature, raw, emit)
      return
    }
    if (typeof part.text === 'string') {
      if (part.thought === true) this.#writer.reasoning(index, part.text, emit)
      else {
        choice.text += part.text
        this.#writer.text(index, part.text, emit)
      }
      if (signature === undefined) return
      this.#writer.signature(index, signature, emit)
      // A signature applies to its own part, so the next text is a new part.
      if (part.text !== '') this.#writer.closeCurrent(index, emit)
      return
    }
    const whole = wholePart(part)
    if (whole !== null)
      this.#writer.whole(index, whole.t === 'image' || whole.t === 'audio' ? whole.t : 'server_tool', whole, emit)
    else if (signature !== undefined) this.#writer.signature(index, signature, emit)
  }

  #functionCall(
    index: number,
    choice: ChoiceState,
    call: JsonObject,
    signature: Signature | undefined,
    raw: () => string | undefined,
    emit: Emit,
  ): void {
    const name = typeof call.name === 'string' ? call.name : ''
    const id = typeof call.id === 'string' && call.id !== '' ? call.id : null
    const open = call.willContinue === true
    if (name === '') {
      // A fragment of the running call, or the empty object that ends it.
      if (choice.partial === null) return
      choice.partial.add(call.partialArgs)
      if (!open && !continues(call.partialArgs)) this.#endPartial(index, choice, emit)
      return
    }
    if (choice.partial !== null) this.#endPartial(index, choice, emit)
    if (open || call.partialArgs !== undefined) {
      choice.partial = partialCall(name, id, signature, call.args)
      choice.partial.add(call.partialArgs)
      if (!open && !continues(call.partialArgs)) this.#endPartial(index, choice, emit)
      return
    }
    this.#call(index, choice, name, id, argsText(call.args, raw), signature, emit)
  }

  #endPartial(index: number, choice: ChoiceState, emit: Emit): void {
    const partial = choice.partial as PartialCall
    choice.partial = null
    this.#call(index, choice, partial.name, partial.id, partial.args(), partial.signature, emit)
  }

  #call(
    index: number,
    choice: ChoiceState,
    upstream: string,
    id: string | null,
    args: string,
    signature: Signature | undefined,
    emit: Emit,
  ): void {
    const key = choice.calls++
    const { custom, ...tool } = callerTool(upstream, this.#codec)
    const meta = {
      id: id ?? this.#codec.id(this.#codec.caller === 'messages' ? 'toolu_' : 'call_'),
      idMinted: id === null,
      ...tool,
      kind: custom ? ('custom' as const) : ('function' as const),
      ...(signature ? { signature } : {}),
    }
    this.#writer.toolStart(index, key, meta, emit)
    this.#writer.toolArgs(index, key, custom ? customInput(args) : args, emit)
    this.#writer.toolStop(index, key, emit)
  }

  #signature(part: JsonObject): Signature | undefined {
    if (typeof part.thoughtSignature !== 'string' || part.thoughtSignature === '') return undefined
    return { dialect: 'generate_content', modelFamily: this.#codec.caps.family, value: part.thoughtSignature }
  }

  #choice(index: number): ChoiceState {
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = {
        finish: null,
        blocked: false,
        unfinished: false,
        last: false,
        done: false,
        calls: 0,
        text: '',
        own: undefined,
        safety: undefined,
        partial: null,
        part: -1,
      }
      this.#choices.set(index, choice)
    }
    return choice
  }
}

function says(content: JsonObject): boolean {
  return listField(content.parts ?? undefined).some((part) => isObject(part) && part.text !== '')
}

function continues(fragments: Json | undefined): boolean {
  return listField(fragments).some((fragment) => isObject(fragment) && fragment.willContinue === true)
}

/** Returns the arguments as JSON text, encoded once, with the upstream's digits. */
function argsText(args: Json | undefined, raw: () => string | undefined): string {
  if (args === undefined || args === null) return '{}'
  if (typeof args === 'string') return args
  const text = JSON.stringify(args)
  return hasBigNumber(text) ? (raw() ?? text) : text
}

function wholePart(part: JsonObject): Part | null {
  const { inlineData, thoughtSignature } = part
  if (isObject(inlineData) && typeof inlineData.data === 'string') {
    const mime = typeof inlineData.mimeType === 'string' ? inlineData.mimeType : 'application/octet-stream'
    const src = { kind: 'base64' as const, data: inlineData.data, mime }
    const ext = typeof thoughtSignature === 'string' ? { ext: { generate_content: { thoughtSignature } } } : {}
    const kind = mediaKind(mime)
    if (kind === 'image') return { t: 'image', src, ...ext }
    if (kind === 'audio') return { t: 'audio', src, format: audioFormat(mime), ...ext }
  }
  const kind = Object.keys(part).find((key) => key !== 'thoughtSignature' && key !== 'thought')
  return kind === undefined ? null : { t: 'server_tool', dialect: 'generate_content', kind, raw: part }
}
