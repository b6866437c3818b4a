// Turns pushed chunks into an async iterable with back-pressure: the writer waits while a chunk has not been taken.
import type { GatewayErrorShape } from '../../types/error.ts'

export interface ChunkQueue {
  /** Resolves when the reader wants more; undefined = at once. */
  push(chunk: Uint8Array): Promise<void> | undefined
  end(): void
  fail(error: GatewayErrorShape): void
  /** Iterate once. `left` is called when the reader stops before the end. */
  chunks(left: () => void): AsyncIterable<Uint8Array>
}

export function chunkQueue(): ChunkQueue {
  const waiting: Uint8Array[] = []
  let ended = false
  let failure: GatewayErrorShape | null = null
  let wake: () => void = () => {}
  let resume: (() => void) | null = null

  async function* read(left: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = waiting.shift()
        if (chunk !== undefined) {
          yield chunk
          continue
        }
        if (failure !== null) throw failure
        if (ended) return
        resume?.()
        resume = null
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      if (!ended) left()
      resume?.()
    }
  }

  return {
    push(chunk) {
      waiting.push(chunk)
      wake()
      return new Promise((resolve) => {
        resume = resolve
      })
    },
    end() {
      ended = true
      wake()
    },
    fail(error) {
      ended = true
      failure = error
      wake()
    },
    chunks: read,
  }
}
