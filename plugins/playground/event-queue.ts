// Server-Sent Events as a stream. Events wait in memory until the reader takes them; `drained` tells the writer to wait.

/** Waiting text above this size, in characters, makes the writer wait. */
const HIGH_WATER = 256 * 1024

export class EventQueue {
  readonly stream: ReadableStream<Uint8Array>
  readonly #encoder = new TextEncoder()
  #waiting = ''
  #ended = false
  #wake: (() => void) | null = null
  #drained: { promise: Promise<void>; resolve: () => void } | null = null

  /** @param begin called when the reader asks for the first event. @param gone called when the reader leaves. */
  constructor(begin: () => void, gone: () => void) {
    let begun = false
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (!begun) begin()
          begun = true
          if (this.#waiting === '' && !this.#ended)
            await new Promise<void>((resolve) => {
              this.#wake = resolve
            })
          if (this.#waiting !== '') controller.enqueue(this.#encoder.encode(this.#waiting))
          this.#waiting = ''
          this.#release()
          if (this.#ended) controller.close()
        },
        cancel: () => {
          this.#ended = true
          this.#release()
          gone()
        },
      },
      { highWaterMark: 0 },
    )
  }

  push(event: string, data: unknown): void {
    if (this.#ended) return
    this.#waiting += `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#release()
    this.#wake?.()
  }

  /** undefined: more may be pushed at once. */
  drained(): Promise<void> | undefined {
    if (this.#ended || this.#waiting.length < HIGH_WATER) return undefined
    if (this.#drained === null) {
      let resolve = (): void => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#drained = { promise, resolve }
    }
    return this.#drained.promise
  }

  #release(): void {
    this.#drained?.resolve()
    this.#drained = null
  }
}
