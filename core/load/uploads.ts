// Limits the bytes of uploads that are held in memory. An upload waits before its body is read: the sender's socket is paused, and nothing
// is written to disk.
import { GatewayError } from '../errors/gateway-error.ts'
import type { GatewayErrorShape } from '../types/error.ts'

export const MAX_UPLOAD_BYTES = 192 * 1024 * 1024

interface Waiting {
  readonly bytes: number
  enter(): void
}

/** The request of an upload. */
interface Owner {
  onStop(fn: (reason: GatewayErrorShape) => void): () => void
}

export class Uploads {
  readonly #limit: number
  readonly #waiting: Waiting[] = []
  #held = 0

  constructor(limit = MAX_UPLOAD_BYTES) {
    this.#limit = limit
  }

  /** Bytes of the uploads that have entered. */
  get held(): number {
    return this.#held
  }

  /**
   * Resolves when an upload of this size fits, in the order of arrival, with the function that frees its bytes. A single upload always
   * fits. @throws the reason when the owner is stopped first.
   */
  enter(bytes: number, owner: Owner): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        bytes,
        enter: () => {
          off()
          this.#held += bytes
          let released = false
          resolve(() => {
            if (released) return
            released = true
            this.#held -= bytes
            this.#next()
          })
        },
      }
      let off: () => void = () => {}
      off = owner.onStop((reason) => {
        const at = this.#waiting.indexOf(one)
        if (at === -1) return
        this.#waiting.splice(at, 1)
        reject(GatewayError.from(reason))
        this.#next()
      })
      this.#waiting.push(one)
      this.#next()
    })
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#held > 0 && this.#held + first.bytes > this.#limit) return
      this.#waiting.shift()
      first.enter()
    }
  }
}
