// How stream items reach the caller: SSE data frames, or the elements of one JSON array (no alt=sse). Either way the text
// so far plus close() is well formed.

export interface Framing {
  item(json: string): string
  /** Text after the last item. Call it once. */
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
