// The body of an answer that is written while it is read: exports and reports.

/** Collects small pieces of text into chunks of this size. */
const CHUNK = 64 * 1024

/** Read on as the client reads: no more than one chunk and what `content` itself holds is in memory. */
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
