// One listener: a position in the ring and a pull stream. It buffers only what the reader requested. A slow reader falls behind in the ring
// and is notified how many events it missed.
import { encodeUtf8 } from '../../core/text/bytes.ts'
import type { Ring } from './ring.ts'

export interface SubscriberEnd {
  lagged(events: number): void
  /** Called once, however the stream ended. */
  ended(): void
}

export class Subscriber {
  readonly stream: ReadableStream<Uint8Array>
  readonly #ring: Ring
  readonly #end: SubscriberEnd
  #at: number
  #pending: string
  #wake: (() => void) | null = null
  #over = false
  /** Monotonic ms of the last data that the reader took. */
  #readAt: number

  /** @param from number of the first event to send. @param head text that is sent first. */
  constructor(ring: Ring, from: number, head: string, now: number, end: SubscriberEnd) {
    this.#ring = ring
    this.#at = from
    this.#pending = head
    this.#readAt = now
    this.#end = end
    this.stream = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.#finish() },
      // Produce data only when it is read.
      { highWaterMark: 0 },
    )
  }

  /** Monotonic ms. */
  get readAt(): number {
    return this.#readAt
  }

  /** True when unread data waits for the reader. */
  get behind(): boolean {
    return this.#pending !== '' || this.#at < this.#ring.next
  }

  /** Call it for a new event. */
  wake(): void {
    this.#wake?.()
  }

  /** Sends a comment that keeps the connection alive; at most one is pending. */
  ping(now: number): void {
    if (this.#pending === '' && this.#wake !== null) {
      this.#pending = ': ping\n\n'
      this.#readAt = now
    }
    this.wake()
  }

  /** Sends the remaining events first. */
  close(): void {
    this.#over = true
    this.wake()
  }

  /** Ends the stream of a reader that does not read. */
  abandon(): void {
    void this.stream.cancel().catch(() => {})
    this.#finish()
  }

  #finish(): void {
    this.#over = true
    this.#end.ended()
    this.wake()
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const text = this.#take()
      if (text !== '') return controller.enqueue(encodeUtf8(text))
      if (this.#over) {
        this.#end.ended()
        return controller.close()
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
  }

  #take(): string {
    let text = this.#pending
    this.#pending = ''
    const { oldest, next } = this.#ring
    if (this.#at < oldest) {
      const missed = oldest - this.#at
      text += `event: lagged\ndata: {"missed":${missed}}\n\n`
      this.#end.lagged(missed)
      this.#at = oldest
    }
    while (this.#at < next) text += this.#ring.frame(this.#at++)
    return text
  }
}
