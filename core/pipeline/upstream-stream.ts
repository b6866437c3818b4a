// Turns an upstream's SSE answer into a StreamSource. It holds everything back until the first content, so that another candidate can
// still answer. After that it forwards each network read at once, as bytes or as events.
import { GatewayError } from '../errors/gateway-error.ts'
import type { StreamStages } from '../hooks/runners.ts'
import type { ValueLimits } from '../json/json-scan.ts'
import { mergeUsage } from '../stream/collect.ts'
import { createSseSplitter, MAX_EVENT_BYTES, type SseSplitter } from '../stream/sse.ts'
import { byteLength } from '../text/bytes.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { BytesDecoder, FrameFilter, SseFrame, StreamDecoder } from '../types/request/dialect.ts'
import type { StreamEvent, StreamFacts, StreamSink, StreamSource } from '../types/request/stream.ts'

export interface UpstreamStreamInit {
  /** Limits of each event. */
  values: ValueLimits
  /** Exactly one of the three is set: byte lane, or events lane from frames or from bytes. */
  filter: FrameFilter | null
  decoder: StreamDecoder | null
  bytes: BytesDecoder | null
  /** On the byte lane, watching transforms get parsed copies here. */
  watch: { decoder: StreamDecoder; stages: StreamStages } | null
  owner: StreamOwner
}

/** The upstream call of a stream. */
export interface StreamOwner {
  /** The attempt has succeeded: the first content has arrived, or a complete answer without content. */
  committed(): void
  /** Removes secrets from an error's message. */
  clean(error: GatewayErrorShape): GatewayErrorShape
  /** The attempt failed before the commit. */
  failed(error: GatewayErrorShape): void
  /** Aborts the upstream call. */
  abort(reason: GatewayErrorShape): void
}

/** Limit of the bytes of one stream. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024

/** Limit of the bytes held between the commit and the pump. At the limit the upstream has to wait. */
const MAX_HELD_BYTES = 64 * 1024

export function emptyFacts(): StreamFacts {
  return { content: false, contentBytes: 0, terminal: false, usage: null, finish: null, error: null }
}

export class UpstreamStream implements StreamSource {
  readonly lane: 'bytes' | 'events'
  readonly facts: StreamFacts
  readonly #owner: StreamOwner
  readonly #filter: FrameFilter | null
  readonly #decoder: StreamDecoder | null
  readonly #chunks: BytesDecoder | null
  readonly #watch: UpstreamStreamInit['watch']
  readonly #splitter: SseSplitter
  readonly #onFrame: (frame: SseFrame) => void
  /** Only for the events lane: a closure for each stream takes memory. */
  readonly #onEvent: (event: StreamEvent) => void
  #held: (StreamEvent | Uint8Array | string)[] | null = []
  #sink: StreamSink | null = null
  #committed = false
  #over = false
  #ended = false
  #finished: () => void = nothing
  #pumped: () => void = nothing
  #bytes = 0
  #heldBytes = 0

  constructor(init: UpstreamStreamInit) {
    const { filter } = init
    this.#owner = init.owner
    this.#filter = filter
    this.#decoder = init.decoder
    this.#chunks = init.bytes
    this.#watch = init.watch
    this.#onFrame = filter === null ? (frame) => this.#decoded(frame) : (frame) => this.#filtered(filter, frame)
    this.#onEvent = filter === null ? (event) => this.#event(event) : nothing
    this.#splitter = createSseSplitter({ maxEventBytes: MAX_EVENT_BYTES, values: init.values })
    this.lane = filter === null ? 'events' : 'bytes'
    this.facts = filter?.facts ?? emptyFacts()
  }

  get over(): boolean {
    return this.#over
  }

  push(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#over) return undefined
    this.#bytes += chunk.length
    if (this.#bytes > MAX_STREAM_BYTES) {
      this.fail(GatewayError.protocol('The upstream stream is longer than the limit.'))
      return undefined
    }
    try {
      if (this.#chunks === null) this.#splitter.push(chunk, this.#onFrame)
      else this.#chunks.chunk(chunk, this.#onEvent)
    } catch (error) {
      this.fail(GatewayError.from(error))
      return undefined
    }
    if (this.#sink !== null) return this.#sink.ready()
    if (!this.#committed) return undefined
    // A plugin may keep the result for a while before it is pumped.
    this.#heldBytes += chunk.length
    return this.#heldBytes > MAX_HELD_BYTES ? this.#untilPumped() : undefined
  }

  end(): void {
    if (this.#over || this.#ended) return
    this.#ended = true
    try {
      this.#splitter.end(this.#onFrame)
      if (this.#over) return
      if (this.#filter !== null) {
        const rest = this.#filter.end()
        if (this.facts.error !== null) return this.fail(this.facts.error)
        if (rest !== '') this.#put(rest)
        this.#watch?.decoder.end((event) => this.#watched(event))
        this.#watch?.stages.flush(nothing)
      } else {
        ;(this.#chunks ?? this.#decoder)?.end(this.#onEvent)
      }
    } catch (error) {
      return this.fail(GatewayError.from(error))
    }
    if (this.#over) return
    if (!this.#committed) {
      if (!this.facts.terminal) return this.fail(GatewayError.protocol('The upstream sent an empty stream.'))
      this.#commit()
    }
    this.#finish()
  }

  /** Handles a broken upstream or an unusable answer. Before the commit the attempt fails; after it the stream ends with an error. */
  fail(thrown: GatewayErrorShape): void {
    if (this.#over) return
    const error = this.#owner.clean(thrown)
    // A connection cut after the terminal event loses nothing of the answer: it counts as a normal end.
    const harmless = this.#committed && this.facts.terminal && error.upstream !== null && error.upstream.kind !== 'stream'
    if (harmless && !this.#ended) return this.end()
    this.facts.error = error
    this.#over = true
    this.#owner.abort(error)
    if (this.#committed) this.#finished()
    else this.#owner.failed(error)
  }

  pump(sink: StreamSink): Promise<void> {
    for (const item of this.#held ?? []) deliver(sink, item)
    this.#held = null
    const ready = sink.ready()
    this.#sink = sink
    this.#pumped()
    this.#pumped = nothing
    if (this.#over) return Promise.resolve(ready)
    return new Promise((resolve) => {
      this.#finished = resolve
    })
  }

  cancel(reason: GatewayErrorShape = GatewayError.clientGone()): void {
    if (this.#over) return
    this.facts.error ??= reason
    this.#over = true
    this.#owner.abort(reason)
    this.#finished()
  }

  errorFrame(error: GatewayErrorShape): string {
    return this.#filter?.error(error) ?? ''
  }

  #filtered(filter: FrameFilter, frame: SseFrame): void {
    if (this.#over) return
    const out = filter.frame(frame)
    if (this.facts.error !== null) return this.fail(this.facts.error)
    this.#watch?.decoder.frame(frame, (event) => this.#watched(event))
    if (out !== null && out !== '') this.#put(out)
    if (!this.#committed && (this.facts.content || this.facts.terminal)) this.#commit()
  }

  #decoded(frame: SseFrame): void {
    if (!this.#over) this.#decoder?.frame(frame, this.#onEvent)
  }

  #watched(event: StreamEvent): void {
    this.#watch?.stages.event(event, nothing)
  }

  #event(event: StreamEvent): void {
    if (this.#over) return
    const { facts } = this
    if (event.e === 'error') {
      return this.fail(GatewayError.upstream(event.status, event.message, { code: event.code ?? null, kind: 'stream' }))
    }
    if (event.e === 'delta') {
      facts.content = true
      facts.contentBytes += deltaBytes(event.d)
    } else if (event.e === 'part_stop' && event.full.t !== 'text' && event.full.t !== 'reasoning') facts.content = true
    else if (event.e === 'start' && event.usage) facts.usage = mergeUsage(facts.usage, event.usage)
    else if (event.e === 'usage') facts.usage = mergeUsage(facts.usage, event.usage)
    else if (event.e === 'finish') {
      facts.finish ??= event.finish
      facts.terminal = true
    } else if (event.e === 'end') facts.terminal = true
    this.#put(event)
    if (!this.#committed && (facts.content || facts.terminal)) this.#commit()
  }

  #put(item: StreamEvent | Uint8Array | string): void {
    if (this.#sink === null) this.#held?.push(item)
    else deliver(this.#sink, item)
  }

  #commit(): void {
    this.#committed = true
    this.#owner.committed()
  }

  #untilPumped(): Promise<void> {
    return new Promise((resolve) => {
      this.#pumped = resolve
    })
  }

  #finish(): void {
    this.#over = true
    this.#finished()
  }
}

function nothing(): void {}

function deliver(sink: StreamSink, item: StreamEvent | Uint8Array | string): void {
  if (typeof item === 'string' || item instanceof Uint8Array) sink.frame(item)
  else sink.event(item)
}

/** Returns the UTF-8 bytes of a delta that a caller would see. */
export function deltaBytes(delta: Extract<StreamEvent, { e: 'delta' }>['d']): number {
  if ('text' in delta) return byteLength(delta.text)
  if ('reasoning' in delta) return byteLength(delta.reasoning)
  if ('args' in delta) return byteLength(delta.args)
  if ('summary' in delta) return byteLength(delta.summary)
  if ('refusal' in delta) return byteLength(delta.refusal)
  return 0
}
