// Filters streams on the byte lane, with chat on both sides. Frames keep their bytes, except where `include_usage` or a strict client
// requires an edit.
import { GatewayError } from '../../../../core/errors/gateway-error.ts'
import { estimateUsage } from '../../../../core/models/token-estimate.ts'
import { concatBytes, decodeUtf8, encodeUtf8 } from '../../../../core/text/bytes.ts'
import type { GatewayErrorShape } from '../../../../core/types/error.ts'
import type { JsonObject } from '../../../../core/types/request/canonical.ts'
import type { CodecContext, FrameFilter, SseFrame } from '../../../../core/types/request/dialect.ts'
import type { StreamFacts } from '../../../../core/types/request/stream.ts'
import { RepeatedFrame } from '../../shared/repeated-frame.ts'
import { inBandError } from '../errors.ts'
import { decodeFinish } from '../finish.ts'
import { isObject, text } from '../read.ts'
import { failedAnswer } from '../response/decode.ts'
import { decodeUsage, encodeUsage, findUsage } from '../usage.ts'
import { type ChunkHead, chunkWriter, DONE, errorFrame } from './chunk.ts'
import { contentOf } from './content-bytes.ts'
import { parseObject } from './decode.ts'
import { ChoiceWatch, normaliseChoice } from './normalise-delta.ts'

export function filterStream(codec: CodecContext): FrameFilter {
  return new ChatFrameFilter(codec)
}

class ChatFrameFilter implements FrameFilter {
  readonly facts: StreamFacts = { content: false, contentBytes: 0, terminal: false, usage: null, finish: null, error: null }
  readonly #codec: CodecContext
  /** Nearly all answers have one choice, whose index is 0. A map takes a quarter of a kilobyte of each stream. */
  #only: ChoiceWatch | null = null
  #others: Map<number, ChoiceWatch> | null = null
  #head: ChunkHead | null = null
  /** The usage to send, as the upstream wrote it, and its own frame when that can be forwarded unchanged. */
  #usage: JsonObject | null = null
  #usageFrame: Uint8Array | null = null
  /** Number of choices without a finish. */
  #open = 0
  #over = false
  readonly #repeated = new RepeatedFrame()

  constructor(codec: CodecContext) {
    this.#codec = codec
  }

  frame(frame: SseFrame): Uint8Array | string | null {
    if (this.#over) return null
    const repeated = this.#repeated.textBytes(frame.bytes)
    if (repeated >= 0) {
      this.facts.contentBytes += repeated
      return frame.bytes
    }
    const { data } = frame
    // An empty data line makes clients throw. Comments are dropped: the gateway sends its own heartbeats.
    if (data === '') return null
    if (data.startsWith('[DONE]')) return this.#done()
    const chunk = parseObject(data)
    if (chunk === null) return this.#fail(GatewayError.protocol('The upstream sent a stream event that is not valid JSON.'))
    const error = inBandError(chunk, 'stream')
    if (error !== null) return this.#fail(error)
    return this.#chunk(chunk, frame)
  }

  end(): string {
    if (this.#over) return ''
    const out = this.facts.terminal
      ? this.#done()
      : this.#fail(GatewayError.network('reset', 'The upstream closed the stream before it was complete.'))
    return out === null ? '' : typeof out === 'string' ? out : decodeUtf8(out)
  }

  error(error: GatewayErrorShape): string {
    this.#over = true
    return errorFrame(this.#head ?? this.#newHead({}), error)
  }

  #chunk(chunk: JsonObject, frame: SseFrame): Uint8Array | string | null {
    const { data, bytes } = frame
    this.#head ??= text(chunk.id) === undefined ? null : this.#newHead(chunk)
    const usage = findUsage(chunk)
    if (usage !== null) this.#sawUsage(usage)
    const choices = Array.isArray(chunk.choices) ? chunk.choices : null
    if (usage !== null && (choices === null || choices.length === 0)) {
      this.#usageFrame = isUsageFrame(chunk, usage, this.#head) && endsBlank(bytes) ? bytes : null
      return null
    }
    let edited = choices === null
    if (choices === null) chunk.choices = []
    else {
      for (let at = 0; at < choices.length; at++) {
        const choice = choices[at]
        if (isObject(choice) && this.#choice(choice, at)) edited = true
        if (this.#over) return null
      }
      if (this.#hasChoices) this.facts.terminal = this.#open === 0
    }
    const out = this.#written(chunk, usage !== null, edited, data, bytes)
    if (out === bytes && usage === null && choices?.length === 1) this.#remember(frame, choices[0] as JsonObject)
    return out
  }

  #remember(frame: SseFrame, { finish_reason, delta }: JsonObject): void {
    if (text(finish_reason) !== undefined || !isObject(delta) || !hasOnlyText(delta)) return
    this.#repeated.learn(frame, delta.content as string, contentIn)
  }

  #choice(choice: JsonObject, position: number): boolean {
    const index = typeof choice.index === 'number' ? choice.index : position
    const watch = this.#watchOf(index)
    const native = text(choice.finish_reason)
    const edited = normaliseChoice(choice, watch, this.#codec)
    const content = contentOf(choice.delta as JsonObject)
    if (content.any) this.facts.content = true
    this.facts.contentBytes += content.bytes
    watch.refused ||= content.refusal
    watch.spoke ||= content.text
    if (native !== undefined && !watch.finished) {
      watch.finished = true
      this.#open--
      const finish = decodeFinish(native, { toolCall: watch.toolCall, refusalOnly: watch.refused && !watch.spoke })
      if (finish === 'error') this.#fail(failedAnswer(native))
      this.facts.finish ??= finish
    }
    return edited
  }

  get #hasChoices(): boolean {
    return this.#only !== null || this.#others !== null
  }

  #watchOf(index: number): ChoiceWatch {
    if (index === 0 && this.#only !== null) return this.#only
    const known = this.#others?.get(index)
    if (known !== undefined) return known
    const watch = new ChoiceWatch()
    this.#open++
    if (index === 0) this.#only = watch
    else {
      this.#others ??= new Map()
      this.#others.set(index, watch)
    }
    return watch
  }

  #watches(): [number, ChoiceWatch][] {
    return [...(this.#only === null ? [] : [[0, this.#only] as [number, ChoiceWatch]]), ...(this.#others ?? [])]
  }

  /** Returns the frame to send, without usage where the caller expects none. */
  #written(chunk: JsonObject, hasUsage: boolean, edited: boolean, data: string, bytes: Uint8Array): Uint8Array | string {
    const asked = this.#codec.includeUsage
    if (hasUsage || (!asked && data.includes('"usage"'))) {
      // The common case: OpenAI repeats "usage":null in every chunk because the gateway requested usage. Data over several lines becomes
      // one line only when it is rewritten.
      const at = hasUsage || edited || data.includes('\n') ? -1 : data.indexOf(NULL_USAGE)
      if (at > 0 && data.indexOf('"usage"', at + NULL_USAGE.length) === -1)
        return `data: ${data.slice(0, at)}${data.slice(at + NULL_USAGE.length)}\n\n`
      edited = removeUsage(chunk) || edited
    }
    if (edited) return `data: ${JSON.stringify(chunk)}\n\n`
    return endsBlank(bytes) ? bytes : `data: ${JSON.stringify(chunk)}\n\n`
  }

  #done(): Uint8Array | string | null {
    if (!this.#hasChoices) return this.#fail(GatewayError.protocol('The upstream ended the stream without an answer.'))
    this.#over = true
    this.facts.terminal = true
    const writer = chunkWriter(this.#head ?? this.#newHead({}))
    let out = ''
    for (const [index, watch] of this.#watches()) {
      if (watch.finished) continue
      // A choice without a finish reason counts as stopped.
      out += writer.finish(index, watch.toolCall ? 'tool_calls' : 'stop')
      this.facts.finish ??= watch.toolCall ? 'tool_calls' : 'stop'
    }
    if (!this.#codec.includeUsage) return out + DONE
    if (this.#usageFrame !== null) return concatBytes([encodeUtf8(out), this.#usageFrame, encodeUtf8(DONE)])
    return out + writer.usage(this.#shownUsage()) + DONE
  }

  #shownUsage(): JsonObject {
    const { usage } = this.facts
    if (usage === null || this.#usage === null) {
      this.#codec.warn('estimated_tokens')
      return encodeUsage(estimateUsage(this.#codec.request, this.facts.contentBytes))
    }
    return { ...this.#usage, prompt_tokens: usage.inputTotal, completion_tokens: usage.outputTotal, total_tokens: usage.total }
  }

  #sawUsage(wire: JsonObject): void {
    const usage = decodeUsage(wire, this.#codec.quirks)
    if (usage === null) return
    this.facts.usage = usage
    this.#usage = wire
    this.#usageFrame = null
  }

  #newHead(chunk: JsonObject): ChunkHead {
    const created = typeof chunk.created === 'number' ? Math.floor(chunk.created) : Math.floor(this.#codec.now() / 1000)
    return { id: text(chunk.id) ?? this.#codec.id('chatcmpl-'), created, model: text(chunk.model) ?? this.#codec.model }
  }

  #fail(error: GatewayError): null {
    this.#over = true
    this.facts.error = error
    return null
  }
}

function hasOnlyText(delta: JsonObject): boolean {
  if (typeof delta.content !== 'string') return false
  for (const name in delta) {
    const value = delta[name]
    const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
    if (name !== 'content' && name !== 'role' && !isEmpty) return false
  }
  return true
}

/** The text that the filter counts in a chunk. */
function contentIn(chunk: unknown): unknown {
  return (chunk as { choices?: { delta?: { content?: unknown } }[] } | null)?.choices?.[0]?.delta?.content
}

const NULL_USAGE = ',"usage":null'

/** Returns whether the caller can get the upstream's own usage frame. */
function isUsageFrame(chunk: JsonObject, usage: JsonObject, head: ChunkHead | null): boolean {
  return (
    head !== null &&
    chunk.id === head.id &&
    Array.isArray(chunk.choices) &&
    chunk.usage === usage &&
    typeof usage.total_tokens === 'number'
  )
}

/** Removes usage from every place where vendors put it. */
function removeUsage(chunk: JsonObject): boolean {
  const owners = [chunk, chunk.x_groq, ...(Array.isArray(chunk.choices) ? chunk.choices : [])]
  let removed = false
  for (const owner of owners) {
    if (!isObject(owner) || !('usage' in owner)) continue
    delete owner.usage
    removed = true
  }
  return removed
}

/** Returns false for a last event without its blank line. */
function endsBlank(bytes: Uint8Array): boolean {
  const last = bytes.length - 1
  if (bytes[last] === 13) return bytes[last - 1] === 13 || bytes[last - 1] === 10
  if (bytes[last] !== 10) return false
  const before = bytes[last - 1] === 13 ? bytes[last - 2] : bytes[last - 1]
  return before === 10 || before === 13
}
