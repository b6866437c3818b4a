// Encodes canonical events as stream items for Gemini callers. Parts are increments; function calls are sent whole. Finish reasons and
// the final usage are only on the last item, which waits for `end` because usage may come after the finish.
import { stringify } from '../../../../core/json/raw-json.ts'
import { TextBuilder } from '../../../../core/text/text-builder.ts'
import type { Finish, Usage } from '../../../../core/types/request/answer.ts'
import type { Annotation, Json, JsonObject, Part, Signature, ToolCallPart } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, StreamEncoder } from '../../../../core/types/request/dialect.ts'
import type { Delta, StreamEvent } from '../../../../core/types/request/stream.ts'
import { isUnreported } from '../../shared/unreported-usage.ts'
import { errorItem } from '../errors.ts'
import { isObject, listField } from '../fields.ts'
import { finishReason } from '../finish.ts'
import { responseId } from '../response/encode.ts'
import { groundingOf } from '../response/grounding.ts'
import { logprobsResult } from '../response/logprobs.ts'
import { functionCallPart, reasoningSecret, signatureText, type WirePart, wirePart } from '../response/wire-parts.ts'
import { ThoughtCarrier } from '../thought-carrier.ts'
import { usageMetadata } from '../usage.ts'
import { createFraming, type Framing } from './framing.ts'

interface ChoiceState {
  finish: Finish | null
  native: string
  safety: Json | undefined
  own: JsonObject | undefined
  malformed: boolean
  text: TextBuilder
  annotations: Annotation[]
  logprobs: Json[]
  /** A call without arguments. It is complete only when something other than a cut follows. */
  held: ToolCallPart | null
  thoughts: ThoughtCarrier
  /** Parts by index: the kind, and whether a signature was sent. */
  open: Map<number, { kind: string; signed: boolean }>
}

export function encodeStream(codec: CodecContext): StreamEncoder {
  return new ItemEncoder(codec)
}

class ItemEncoder implements StreamEncoder {
  readonly #codec: CodecContext
  readonly #framing: Framing
  readonly #choices = new Map<number, ChoiceState>()
  /** The members of an item after its candidates. */
  #tail = ''
  #usage: Partial<Usage> | null = null
  #said = false
  #over = false

  constructor(codec: CodecContext) {
    this.#codec = codec
    this.#framing = createFraming(codec.sse)
  }

  event(event: StreamEvent): string {
    if (this.#over) return ''
    switch (event.e) {
      case 'start':
        this.#begin(event.model, event.id)
        if (event.usage !== undefined) this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'usage':
        this.#usage = { ...this.#usage, ...event.usage }
        return ''
      case 'part_start':
        this.#choice(event.choice).open.set(event.part, { kind: event.kind, signed: false })
        return this.#release(event.choice)
      case 'delta':
        return this.#delta(event.choice, event.part, event.d)
      case 'part_stop':
        return this.#partStop(event.choice, event.part, event.full)
      case 'finish':
        Object.assign(this.#choice(event.choice), {
          finish: event.finish,
          native: event.native,
          safety: event.safety,
          own: event.ext?.generate_content,
        })
        return event.finish === 'length' ? '' : this.#release(event.choice)
      case 'end':
        return this.#end(event.ext?.generate_content?.promptFeedback)
      default:
        return ''
    }
  }

  error(error: Parameters<StreamEncoder['error']>[0]): string {
    if (this.#over) return ''
    this.#over = true
    return this.#framing.item(errorItem(error)) + this.#framing.close()
  }

  #begin(model: string, id: string): void {
    if (this.#tail === '')
      this.#tail = `,"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(responseId(id, this.#codec))}}`
  }

  #delta(choice: number, part: number, delta: Delta): string {
    const state = this.#choice(choice)
    if ('text' in delta) {
      state.text.add(delta.text)
      return delta.text === '' ? '' : this.#part(choice, `{"text":${JSON.stringify(delta.text)}}`)
    }
    if ('refusal' in delta) return delta.refusal === '' ? '' : this.#part(choice, `{"text":${JSON.stringify(delta.refusal)}}`)
    const thought = 'reasoning' in delta ? delta.reasoning : 'summary' in delta ? delta.summary : ''
    if (thought !== '') return this.#part(choice, `{"text":${JSON.stringify(thought)},"thought":true}`)
    if ('annotation' in delta) state.annotations.push(delta.annotation)
    else if ('logprobs' in delta) state.logprobs.push(delta.logprobs)
    else if ('signature' in delta) return this.#signature(choice, part, delta.signature)
    return ''
  }

  /** The call itself carries its signature. */
  #signature(choice: number, part: number, signature: Signature): string {
    const open = this.#choice(choice).open.get(part)
    if (open === undefined || open.kind === 'tool_call') return ''
    open.signed = true
    const thought = open.kind === 'text' ? '' : ',"thought":true'
    return this.#part(choice, `{"text":""${thought},"thoughtSignature":${JSON.stringify(signatureText(signature))}}`)
  }

  #partStop(choice: number, part: number, full: Part): string {
    const state = this.#choice(choice)
    const open = state.open.get(part)
    state.open.delete(part)
    if (full.t === 'tool_call') {
      const before = this.#release(choice)
      if (full.args.trim() !== '') return before + this.#call(choice, full)
      state.held = full
      return before
    }
    if (full.t === 'text' || full.t === 'refusal') return ''
    if (full.t === 'reasoning') {
      state.thoughts.add(full)
      const secret = open?.signed ? undefined : reasoningSecret(full)
      return secret === undefined
        ? ''
        : this.#part(choice, `{"text":"","thought":true,"thoughtSignature":${JSON.stringify(signatureText(secret))}}`)
    }
    const wire = wirePart(full)
    return wire === null ? '' : this.#part(choice, stringify(wire))
  }

  #release(choice: number): string {
    const state = this.#choice(choice)
    if (state.held === null) return ''
    const call = state.held
    state.held = null
    return this.#call(choice, call)
  }

  #call(choice: number, call: ToolCallPart): string {
    const state = this.#choice(choice)
    const wire = functionCallPart(call, state.thoughts)
    if (wire !== null) return this.#part(choice, stringify(wire))
    state.malformed = true
    return ''
  }

  #part(choice: number, part: string): string {
    this.#begin(this.#codec.model, '')
    this.#said = true
    return this.#framing.item(`{"candidates":[{"content":{"parts":[${part}],"role":"model"},"index":${choice}}]${this.#tail}`)
  }

  #end(feedback: Json | undefined): string {
    this.#over = true
    this.#begin(this.#codec.model, '')
    const indexes = this.#choices.size === 0 ? [0] : [...this.#choices.keys()].sort((a, b) => a - b)
    // A choice without a finish may still hold a call; that call is complete.
    const before = indexes.map((index) => (this.#choice(index).finish === null ? this.#release(index) : '')).join('')
    // A refused prompt has no candidates.
    const candidates =
      isObject(feedback) && !this.#said ? '' : `"candidates":${stringify(indexes.map((index) => this.#last(index)))},`
    const fed = feedback === undefined ? '' : `"promptFeedback":${JSON.stringify(feedback)},`
    const usage =
      this.#usage === null || isUnreported(this.#usage) ? '' : `"usageMetadata":${JSON.stringify(usageMetadata(this.#usage))},`
    return before + this.#framing.item(`{${candidates}${fed}${usage}${this.#tail.slice(1)}`) + this.#framing.close()
  }

  #last(index: number): WirePart {
    const state = this.#choice(index)
    const finish = state.finish ?? 'stop'
    const settled = finish === 'tool_calls' ? 'stop' : finish
    const own = state.own
    const grounding = own?.groundingMetadata === undefined ? groundingOf(state.annotations, state.text.toString()) : undefined
    const logprobs = logprobsResult({ content: state.logprobs.flatMap(tokens) })
    return {
      content: { parts: [{ text: '' }], role: 'model' },
      finishReason: finishReason(
        state.malformed && finish !== 'length' ? 'malformed_tool_call' : settled,
        state.native,
        this.#codec,
      ),
      index,
      ...(Array.isArray(state.safety) ? { safetyRatings: state.safety } : {}),
      ...(grounding === undefined ? {} : { groundingMetadata: grounding }),
      ...(logprobs === undefined ? {} : { logprobsResult: logprobs }),
      ...own,
    }
  }

  #choice(index: number): ChoiceState {
    let state = this.#choices.get(index)
    if (state === undefined) {
      state = {
        finish: null,
        native: '',
        safety: undefined,
        own: undefined,
        malformed: false,
        text: new TextBuilder(),
        annotations: [],
        logprobs: [],
        held: null,
        thoughts: new ThoughtCarrier(),
        open: new Map(),
      }
      this.#choices.set(index, state)
    }
    return state
  }
}

/** Returns the token list of a logprobs delta: chat's object or the bare list. */
function tokens(logprobs: Json): Json[] {
  if (Array.isArray(logprobs)) return logprobs
  return typeof logprobs === 'object' && logprobs !== null ? listField(logprobs.content ?? undefined) : []
}
