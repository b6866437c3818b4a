// Edits one choice of a chunk for strict clients, on the byte lane. Most upstreams need no edit; then the original bytes are sent.
import type { Json, JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext } from '../../../../core/types/request/dialect.ts'
import { callerFinishWord } from '../finish.ts'
import { isObject, text } from '../read.ts'
import { spokenContent } from '../response/decode.ts'
import { callArgs, ToolSlots } from './tool-slots.ts'

/** State of one choice so far. */
export class ChoiceWatch {
  #slots: ToolSlots | null = null
  opened = false
  finished = false
  refused = false
  spoke = false

  /** Most choices have no tool call. */
  get slots(): ToolSlots {
    this.#slots ??= new ToolSlots()
    return this.#slots
  }

  get toolCall(): boolean {
    return this.#slots !== null && this.#slots.size > 0
  }
}

/** Edits the parsed choice in place; returns true when it changed. */
export function normaliseChoice(choice: JsonObject, watch: ChoiceWatch, codec: CodecContext): boolean {
  let edited = false
  if (!isObject(choice.delta)) {
    choice.delta = isObject(choice.message) ? choice.message : {}
    edited = true
  }
  const delta = choice.delta as JsonObject
  if (!watch.opened) {
    watch.opened = true
    // SDK helpers throw for a choice that never had a role.
    if (typeof delta.role !== 'string') {
      choice.delta = { role: 'assistant', ...delta }
      normaliseDelta(choice, choice.delta, watch, codec)
      return true
    }
  }
  return normaliseDelta(choice, delta, watch, codec) || edited
}

function normaliseDelta(choice: JsonObject, delta: JsonObject, watch: ChoiceWatch, codec: CodecContext): boolean {
  let edited = false
  if (Array.isArray(delta.content)) {
    const spoken = spokenContent(delta.content)
    if (spoken.text !== '' || spoken.reasoning === '') delta.content = spoken.text
    else delete delta.content
    if (spoken.reasoning !== '') delta.reasoning_content = spoken.reasoning
    edited = true
  }
  if (Array.isArray(delta.tool_calls)) {
    for (const call of delta.tool_calls) if (isObject(call) && normaliseCall(call, watch, codec)) edited = true
  }
  const native = text(choice.finish_reason)
  if (native !== undefined) {
    const word = callerFinishWord(native, watch.toolCall)
    if (word !== native) {
      choice.finish_reason = word
      edited = true
    }
  }
  return edited
}

/** Adds index, id, type and arguments to the first fragment of a call, and removes repeated names, because some clients join them. */
function normaliseCall(call: JsonObject, watch: ChoiceWatch, codec: CodecContext): boolean {
  const slot = watch.slots.resolve(call)
  let edited = false
  const put = (owner: JsonObject, key: string, value: Json) => {
    owner[key] = value
    edited = true
  }
  if (call.index !== slot.index) put(call, 'index', slot.index)
  const kind = isObject(call.custom) ? 'custom' : 'function'
  const named = isObject(call[kind]) ? (call[kind] as JsonObject) : null
  const field = kind === 'custom' ? 'input' : 'arguments'
  if (named !== null && isObject(named[field])) put(named, field, callArgs(call))
  if (named !== null && typeof named.name === 'string') {
    const told = slot.named
    // Some vendors send the name only after the id.
    if (named.name !== '' && !told) slot.named = true
    else if (slot.announced) {
      delete named.name
      edited = true
    }
  }
  if (slot.announced) return edited
  slot.announced = true
  if (text(call.id) === undefined) put(call, 'id', codec.id('call_'))
  if (typeof call.type !== 'string') put(call, 'type', kind)
  if (named !== null && typeof named[field] !== 'string') put(named, field, '')
  return edited
}
