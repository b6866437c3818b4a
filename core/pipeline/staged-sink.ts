// Runs the stream hooks of one request in front of the next sink: transforms → batch stage → sink.
import { GatewayError } from '../errors/gateway-error.ts'
import type { StreamStages } from '../hooks/runners.ts'
import type { GatewayErrorShape } from '../types/error.ts'
import type { Result } from '../types/request/result.ts'
import type { StreamEvent, StreamSink, StreamSource } from '../types/request/stream.ts'
import type { RequestState } from './context.ts'

/** Answers of internal calls whose own hooks have run already. Hooks run once, on the call that produced the answer. */
export const transformed = new WeakSet<Result | StreamSource>()

/** Calls the `stream` factories, once per attempt. @throws GatewayError when a factory refuses. */
export function stagesOf(ctx: RequestState): StreamStages | null {
  const { hooks } = ctx
  if (ctx.stages === undefined) ctx.stages = hooks.stream === null ? null : hooks.stream(ctx)
  return ctx.stages
}

export function hasBatch(ctx: RequestState): boolean {
  const { hooks } = ctx
  return hooks.batch !== null && hooks.applies('stream:batch', ctx)
}

/** Returns null when no stream hook applies: use `next` directly. @throws GatewayError when a transform's factory refuses. */
export function stagedSink(
  ctx: RequestState,
  next: StreamSink,
  onFailure: (error: GatewayErrorShape) => void,
): StagedSink | null {
  const stages = stagesOf(ctx)
  const batch = hasBatch(ctx)
  return stages === null && !batch ? null : new StagedSink(ctx, stages, batch, next, onFailure)
}

export class StagedSink implements StreamSink {
  failure: GatewayErrorShape | null = null
  readonly #ctx: RequestState
  readonly #stages: StreamStages | null
  readonly #batch: boolean
  readonly #next: StreamSink
  readonly #onFailure: (error: GatewayErrorShape) => void
  #events: StreamEvent[] = []
  #running: Promise<void> = Promise.resolve()

  constructor(
    ctx: RequestState,
    stages: StreamStages | null,
    batch: boolean,
    next: StreamSink,
    onFailure: (error: GatewayErrorShape) => void,
  ) {
    this.#ctx = ctx
    this.#stages = stages
    this.#batch = batch
    this.#next = next
    this.#onFailure = onFailure
  }

  event(event: StreamEvent): void {
    if (this.failure !== null) return
    try {
      // Stages flush before the end, so that the events they hold come before the terminal events.
      if (event.e === 'end') this.#stages?.flush(this.#out)
      if (this.#stages !== null) this.#stages.event(event, this.#out)
      else this.#out(event)
    } catch (error) {
      this.#fail(error)
    }
  }

  frame(): void {}

  ready(): Promise<void> | undefined {
    if (this.failure !== null) return undefined
    if (!this.#batch) return this.#next.ready()
    this.#running = this.#running.then(() => this.#runBatch())
    return this.#running
  }

  /** Call it after a failure. Resolves when no batch is running. */
  settled(): Promise<void> {
    return this.#running
  }

  async #runBatch(): Promise<void> {
    const events = this.#events
    this.#events = []
    if (this.failure !== null || events.length === 0) return
    try {
      for (const event of await (this.#ctx.hooks.batch?.(this.#ctx, events) ?? events)) this.#next.event(event)
    } catch (error) {
      return this.#fail(error)
    }
    await this.#next.ready()
  }

  readonly #out = (event: StreamEvent): void => {
    if (this.#batch) this.#events.push(event)
    else this.#next.event(event)
  }

  #fail(thrown: unknown): void {
    if (this.failure !== null) return
    this.failure = GatewayError.from(thrown)
    this.#onFailure(this.failure)
  }
}
