// Writes stream items as SSE data frames or as elements of one JSON array (no alt=sse). In both forms the text so far plus close() is
// well formed.

export interface Framing {
  item(json: string): string
  /** Returns the text after the last item. Call it once. */
  close(): string
}

export function createFraming(sse: boolean): Framing {
  return sse ? { item: (json) => `data: ${json}\n\n`, close: () => '' } : arrayFraming()
}

function arrayFraming(): Framing {
  let state: 'new' | 'open' | 'closed' = 'new'
  return {
    item(json) {
      if (state === 'closed') return ''
      const lead = state === 'new' ? '[' : ',\r\n'
      state = 'open'
      return lead + json
    },
    close() {
      if (state === 'closed') return ''
      const text = state === 'new' ? '[]' : ']'
      state = 'closed'
      return text
    },
  }
}
