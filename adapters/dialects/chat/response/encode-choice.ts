// Encodes one choice of a stream for a chat caller.
import { byteLength } from '../../../../core/text/bytes.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Annotation, JsonObject, Part, ReasoningPart, Signature } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Delta, PartMeta, StreamEvent } from '../../../../core/types/request/stream.ts'
import { encodeFinish } from '../finish.ts'
import type { ChunkWriter } from '../stream/chunk.ts'
import { ThoughtSecrets } from '../thought-secrets.ts'
import {
  encodeAnnotation,
  encodeImage,
  encodeLogprobs,
  isDeclaredCustom,
  secretMember,
  THOUGHT_SEPARATOR,
  thoughtText,
} from './encode-answer.ts'

interface CallState {
  index: number
  /** `wrapped`: a custom call whose tool the caller did not declare as custom; its text is a function's `input`. */
  kind: 'function' | 'custom' | 'wrapped'
  streamed: boolean
  signed: boolean
}

const WRAP_START = '{"input":"'
const WRAP_END = '"}'

type PartEvent = Extract<StreamEvent, { e: 'part_start' | 'delta' | 'part_stop' }>

export class ChoiceEncoder {
  readonly #index: number
  readonly #chunk: ChunkWriter
  readonly #codec: CodecContext
  readonly #calls = new Map<number, CallState>()
  /** Parts with at least one delta sent; the others are sent at their part_stop. */
  readonly #streamed = new Set<number>()
  /** Length of the content at the start of each text part. */
  readonly #offsets = new Map<number, number>()
  #length = 0
  readonly #secrets = new ThoughtSecrets()
  #thoughtPart: number | null = null
  /** Length of all reasoning text, and the offset of the last part. */
  #thoughtLength = 0
  #thoughtFrom = 0
  #images = 0
  #refused = false
  #opened = false
  #finished = false
  contentBytes = 0

  constructor(index: number, chunk: ChunkWriter, codec: CodecContext) {
    this.#index = index
    this.#chunk = chunk
    this.#codec = codec
  }

  part(event: PartEvent): string {
    if (this.#finished) return ''
    if (event.e === 'delta') return this.#delta(event.part, event.d)
    if (event.e === 'part_stop') return this.#stop(event.part, event.full)
    if (event.kind === 'tool_call') return this.#callStart(event.part, event.meta)
    return this.#open()
  }

  finish(finish: Finish, native: string, own?: JsonObject): string {
    if (this.#finished) return ''
    this.#finished = true
    return (
      this.#open() +
      this.#chunk.finish(
        this.#index,
        encodeFinish(finish, native, { toolCall: this.#calls.size > 0, refusal: this.#refused }),
        own,
      )
    )
  }

  /** Returns the role chunk, which comes before everything else of the choice. */
  #open(): string {
    if (this.#opened) return ''
    this.#opened = true
    return this.#chunk.delta(this.#index, '{"role":"assistant","content":"","refusal":null}')
  }

  #delta(part: number, delta: Delta): string {
    if ('text' in delta) return this.#text(part, delta.text)
    if ('args' in delta) return this.#args(part, delta.args)
    if ('reasoning' in delta) return this.#reasoning(part, delta.reasoning)
    if ('summary' in delta) return this.#reasoning(part, delta.summary)
    if ('refusal' in delta) return this.#refusal(part, delta.refusal)
    if ('logprobs' in delta) return this.#open() + this.#chunk.logprobs(this.#index, encodeLogprobs(delta.logprobs))
    if ('audio' in delta) {
      this.#streamed.add(part)
      return this.#emit('audio', JSON.stringify(delta.audio))
    }
    // Annotations and signatures are sent with the whole part.
    return ''
  }

  #stop(part: number, full: Part): string {
    const missing = !this.#streamed.has(part)
    switch (full.t) {
      case 'text':
        return (missing ? this.#text(part, full.text) : '') + this.#annotations(part, full.text.length, full.annotations ?? [])
      case 'reasoning':
        return this.#thoughtStop(part, missing ? this.#reasoning(part, thoughtText(full)) : '', full)
      case 'refusal':
        return missing ? this.#refusal(part, full.text) : ''
      case 'tool_call':
        return this.#callStop(part, full.args, full.signature)
      case 'image': {
        const image = encodeImage(full, this.#images++)
        return image === null ? '' : this.#emit('images', JSON.stringify([image]))
      }
      case 'audio':
        if (!missing || full.src.kind !== 'base64') return ''
        return this.#emit('audio', JSON.stringify({ id: full.id, data: full.src.data, transcript: full.transcript }))
      default:
        return ''
    }
  }

  #text(part: number, text: string): string {
    if (!this.#offsets.has(part)) this.#offsets.set(part, this.#length)
    if (text === '') return ''
    this.#streamed.add(part)
    this.#length += text.length
    this.contentBytes += byteLength(text)
    return this.#emit('content', JSON.stringify(text))
  }

  #reasoning(part: number, text: string): string {
    if (text === '') return ''
    this.#streamed.add(part)
    // Thoughts of several parts share one field; a blank line separates them.
    const lead = this.#thoughtPart !== null && this.#thoughtPart !== part ? THOUGHT_SEPARATOR : ''
    if (this.#thoughtPart !== part) this.#thoughtFrom = this.#thoughtLength + lead.length
    this.#thoughtPart = part
    this.#thoughtLength += lead.length + text.length
    this.contentBytes += byteLength(text)
    return this.#emit('reasoning_content', JSON.stringify(lead + text))
  }

  #thoughtStop(part: number, out: string, full: ReasoningPart & Part): string {
    const from = this.#thoughtPart === part ? this.#thoughtFrom : this.#thoughtLength
    this.#secrets.add(full, from, this.#thoughtLength)
    const details = full.ext?.chat?.reasoning_details
    return details === undefined ? out : out + this.#emit('reasoning_details', JSON.stringify(details))
  }

  #refusal(part: number, text: string): string {
    if (text === '') return ''
    this.#streamed.add(part)
    this.#refused = true
    this.contentBytes += byteLength(text)
    return this.#emit('refusal', JSON.stringify(text))
  }

  #annotations(part: number, length: number, annotations: readonly Annotation[]): string {
    const list = annotations
      .map((annotation) => encodeAnnotation(annotation, this.#offsets.get(part) ?? 0, length))
      .filter((wire) => wire !== null)
    return list.length === 0 ? '' : this.#emit('annotations', JSON.stringify(list))
  }

  #callStart(part: number, meta: PartMeta): string {
    const signature = meta.signature ?? this.#secrets.take()
    const call: CallState = {
      index: this.#calls.size,
      kind: meta.kind !== 'custom' ? 'function' : isDeclaredCustom(meta.name ?? '', this.#codec) ? 'custom' : 'wrapped',
      streamed: false,
      signed: signature !== undefined,
    }
    this.#calls.set(part, call)
    const body =
      call.kind === 'custom'
        ? { type: 'custom', custom: { name: meta.name ?? '', input: '' } }
        : { type: 'function', function: { name: meta.name ?? '', arguments: '' } }
    return this.#emit(
      'tool_calls',
      JSON.stringify([{ index: call.index, id: meta.id ?? '', ...body, ...secretMember(signature) }]),
    )
  }

  #args(part: number, args: string): string {
    const call = this.#calls.get(part)
    if (call === undefined || args === '') return ''
    this.contentBytes += byteLength(args)
    const lead = call.kind === 'wrapped' && !call.streamed ? WRAP_START : ''
    call.streamed = true
    return this.#fragment(call, call.kind === 'wrapped' ? lead + JSON.stringify(args).slice(1, -1) : args)
  }

  #fragment(call: CallState, args: string): string {
    const text = JSON.stringify(args)
    return this.#emit(
      'tool_calls',
      call.kind === 'custom'
        ? `[{"index":${call.index},"custom":{"input":${text}}}]`
        : `[{"index":${call.index},"function":{"arguments":${text}}}]`,
    )
  }

  /** A function always gets arguments that parse, and a secret that arrived late is still sent. */
  #callStop(part: number, args: string, signature: Signature | undefined): string {
    const call = this.#calls.get(part)
    if (call === undefined) return ''
    let rest = call.streamed ? '' : this.#args(part, args === '' && call.kind === 'function' ? '{}' : args)
    if (call.kind === 'wrapped') rest += this.#fragment(call, call.streamed ? WRAP_END : WRAP_START + WRAP_END)
    if (signature === undefined || call.signed) return rest
    call.signed = true
    return rest + this.#emit('tool_calls', JSON.stringify([{ index: call.index, ...secretMember(signature) }]))
  }

  #emit(field: string, json: string): string {
    return this.#open() + this.#chunk.delta(this.#index, `{"${field}":${json}}`)
  }
}
