// Decodes one choice of a chat stream into canonical parts. Order inside a delta: reasoning, text, refusal, media, calls.
import type { PartWriter } from '../../../../core/stream/part-writer.ts'
import type { Finish } from '../../../../core/types/request/answer.ts'
import type { Json, JsonObject, Part } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import type { Emit } from '../../../../core/types/request/stream.ts'
import { decodeFinish } from '../finish.ts'
import { addOwnOfDelta, ownOfChoice } from '../own-members.ts'
import { isObject, text } from '../read.ts'
import { addDetails } from '../reasoning-details.ts'
import { callSignature, detailsText } from '../request/decode-assistant.ts'
import { decodeAnnotations, decodeAudio, decodeImages, spokenContent } from '../response/decode.ts'
import { callerTool, flattenedInput } from '../tool-names.ts'
import { callArgs, type ToolSlot, ToolSlots } from './tool-slots.ts'

interface OpenCall {
  started: boolean
  /** Arguments that wait: for the name, or, for a custom tool sent as a function, for the end. */
  held: string
  flattened: boolean
}

export class ChoiceDecoder {
  readonly #index: number
  readonly #codec: CodecContext
  readonly #writer: PartWriter
  readonly #slots = new ToolSlots()
  readonly #calls = new Map<number, OpenCall>()
  #textPart: number | null = null
  #refused = false
  #audio: JsonObject | null = null
  #own: JsonObject | undefined
  #ownMessage: JsonObject | undefined
  /** Details that arrived after their thought: a text part is not split for them. */
  #lateDetails: Json[] = []
  finished = false

  constructor(index: number, writer: PartWriter, codec: CodecContext) {
    this.#index = index
    this.#writer = writer
    this.#codec = codec
  }

  delta(delta: JsonObject, logprobs: Json | undefined, emit: Emit): void {
    const spoken = spokenContent(delta.content)
    const details = Array.isArray(delta.reasoning_details) && delta.reasoning_details.length > 0 ? delta.reasoning_details : null
    const told = text(delta.reasoning_content) ?? text(delta.reasoning) ?? (details === null ? undefined : detailsText(details))
    const reasoning = told ?? spoken.reasoning
    if (reasoning !== '') this.#writer.reasoning(this.#index, reasoning, emit)
    if (details !== null && sendsDetailsBack(this.#codec)) this.#details(details, emit)
    if (spoken.text !== '') this.#text(spoken.text, emit)
    if (isObject(logprobs) && this.#textPart !== null) {
      emit({ e: 'delta', choice: this.#index, part: this.#textPart, d: { logprobs } })
    }
    for (const annotation of decodeAnnotations(delta.annotations)) this.#writer.annotation(this.#index, annotation, emit)
    const refusal = text(delta.refusal)
    if (refusal !== undefined) {
      this.#refused = true
      this.#writer.refusal(this.#index, refusal, emit)
    }
    if (isObject(delta.audio)) this.#audio = joinAudio(this.#audio, delta.audio)
    for (const image of decodeImages(delta.images)) this.#writer.whole(this.#index, 'image', image, emit)
    const legacy = isObject(delta.function_call) ? [{ index: 0, function: delta.function_call }] : []
    for (const call of Array.isArray(delta.tool_calls) ? delta.tool_calls : legacy) if (isObject(call)) this.#call(call, emit)
  }

  /** Keeps unknown members of the choice. */
  owns({ message, delta = message, ...choice }: JsonObject): void {
    const own = ownOfChoice(choice)
    if (own !== undefined) this.#own = { ...this.#own, ...own }
    if (isObject(delta)) this.#ownMessage = addOwnOfDelta(this.#ownMessage, delta)
  }

  /** Closes every part and returns how the choice ended; null: it failed. */
  finish(native: string | undefined, emit: Emit): Finish | null {
    this.finished = true
    const finish = decodeFinish(native, { toolCall: this.#hasCall(), refusalOnly: this.#refused && this.#textPart === null })
    if (finish === 'error') return null
    if (this.#audio !== null) this.#writer.whole(this.#index, 'audio', decodeAudio(this.#audio), emit)
    this.#writer.closeCurrent(this.#index, emit)
    if (this.#lateDetails.length > 0) this.#writer.whole(this.#index, 'reasoning', detailed(this.#lateDetails), emit)
    for (const slot of [...this.#calls.keys()].sort((a, b) => a - b)) this.#stop(slot, emit)
    const own = this.#ownMessage === undefined ? this.#own : { ...this.#own, message: this.#ownMessage }
    const ext = own === undefined ? {} : { ext: { chat: own } }
    emit({ e: 'finish', choice: this.#index, finish, native: native ?? '', ...ext })
    return finish
  }

  #details(pieces: readonly Json[], emit: Emit): void {
    const running = this.#writer.running(this.#index)
    if (running !== null && running.kind !== 'reasoning') return addDetails(this.#lateDetails, pieces)
    const thought = this.#writer.thought(this.#index, emit)
    const details = (thought.ext?.chat?.reasoning_details as Json[] | undefined) ?? []
    addDetails(details, pieces)
    thought.ext = { chat: { reasoning_details: details } }
  }

  #text(fragment: string, emit: Emit): void {
    this.#writer.text(this.#index, fragment, (event) => {
      if (event.e === 'part_start' && event.kind === 'text') this.#textPart = event.part
      emit(event)
    })
  }

  #call(wire: JsonObject, emit: Emit): void {
    const slot = this.#slots.resolve(wire)
    let call = this.#calls.get(slot.index)
    if (call === undefined) {
      call = { started: false, held: '', flattened: false }
      this.#calls.set(slot.index, call)
    }
    if (!call.started && slot.name !== null) this.#start(wire, slot, slot.name, call, emit)
    const args = callArgs(wire)
    if (!call.started || call.flattened) call.held += args
    else this.#writer.toolArgs(this.#index, slot.index, args, emit)
  }

  #start(wire: JsonObject, slot: ToolSlot, wireName: string, call: OpenCall, emit: Emit): void {
    this.#stopComplete(emit)
    const { flattened, ...tool } = callerTool(wireName, this.#codec)
    const signature = callSignature(wire, this.#codec.caps.family)
    const custom = isObject(wire.custom) || wire.type === 'custom'
    this.#writer.toolStart(
      this.#index,
      slot.index,
      {
        id: slot.id ?? this.#codec.id('call_'),
        idMinted: slot.id === null,
        ...tool,
        kind: custom || flattened ? 'custom' : 'function',
        ...(signature === undefined ? {} : { signature }),
      },
      emit,
    )
    call.started = true
    call.flattened = flattened
    if (flattened || call.held === '') return
    this.#writer.toolArgs(this.#index, slot.index, call.held, emit)
    call.held = ''
  }

  /** Ends calls whose arguments are one whole object, even when the calls interleave. */
  #stopComplete(emit: Emit): void {
    for (const [slot, call] of this.#calls) {
      if (!call.started) continue
      const args = call.flattened ? call.held : (this.#writer.argsOf(this.#index, slot) ?? '')
      if (isWholeObject(args)) this.#stop(slot, emit)
    }
  }

  #stop(slot: number, emit: Emit): void {
    const call = this.#calls.get(slot)
    if (call?.started !== true) return
    if (call.flattened && call.held !== '') this.#writer.toolArgs(this.#index, slot, flattenedInput(call.held), emit)
    call.held = ''
    this.#writer.toolStop(this.#index, slot, emit)
  }

  #hasCall(): boolean {
    for (const call of this.#calls.values()) if (call.started) return true
    return false
  }
}

function detailed(details: Json[]): Part {
  return { t: 'reasoning', text: '', ext: { chat: { reasoning_details: details } } }
}

/** Returns whether the caller sends reasoning details back: a generate-content client does, in the signature of a call. */
function sendsDetailsBack({ caller }: CodecContext): boolean {
  return caller === 'chat' || caller === 'generate_content'
}

function isWholeObject(args: string): boolean {
  if (!args.startsWith('{') || !args.endsWith('}')) return false
  try {
    JSON.parse(args)
    return true
  } catch {
    return false
  }
}

function joinAudio(sofar: JsonObject | null, delta: JsonObject): JsonObject {
  const joined: JsonObject = { ...sofar, ...delta }
  for (const key of ['data', 'transcript']) joined[key] = (text(sofar?.[key]) ?? '') + (text(delta[key]) ?? '')
  return joined
}
