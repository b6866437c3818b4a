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

/** Runs `fn` for one organization. */
export type Within = <T>(fn: () => Promise<T>) => Promise<T>

/** Reads the body through `within`: content that is made while the client reads stays in the organization of the call. */
export function readWithin(answer: Response, within: Within): Response {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await within(() => reader.read())
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => within(() => reader.cancel(reason)),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers })
}
