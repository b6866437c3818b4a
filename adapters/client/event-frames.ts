// Reads Server-Sent Events from a body.

export interface EventFrame {
  readonly event: string
  readonly data: string
  /** The last id that the stream named; null: none so far. */
  readonly id: string | null
}

/** Yields the events of a body. Comments are skipped. The body is cancelled when the reader stops early. */
export async function* eventFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let id: string | null = null
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() as string
      for (const ended of lines) {
        const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id }
          event = ''
          data = []
          continue
        }
        const colon = line.indexOf(':')
        const field = colon < 0 ? line : line.slice(0, colon)
        const text = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
        if (field === 'event') event = text
        else if (field === 'data') data.push(text)
        else if (field === 'id') id = text
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
