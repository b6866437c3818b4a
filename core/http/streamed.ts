// Streams an answer's body while it is produced: exports and reports.

/** Small pieces of text are collected into chunks of this size. */
const CHUNK = 64 * 1024

/** Reads `content` as fast as the client reads. Memory holds at most one chunk and what `content` itself holds. */
export function streamed(content: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      let text = ''
      for (;;) {
        const { done, value } = await content.next()
        if (typeof value === 'string') text += value
        if (text !== '' && (done || text.length >= CHUNK)) {
          controller.enqueue(encoder.encode(text))
          text = ''
          if (!done) return
        }
        if (done) return controller.close()
        if (typeof value !== 'string') return controller.enqueue(value)
      }
    },
    async cancel() {
      await content.return(undefined)
    },
  })
}
