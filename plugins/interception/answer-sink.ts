// Writes the gateway's answer to an intercepted request.
import type { ServerResponse } from 'node:http'
import type { Sink } from '../../core/types/ports/ports.ts'

export function answerSink(response: ServerResponse): Sink {
  let head: { readonly status: number; readonly headers: readonly string[] } | null = null
  let ended = false
  let gone = false
  let leave: (() => void) | null = null
  response.on('close', () => {
    if (ended || gone) return
    gone = true
    leave?.()
  })
  const sendHead = (length: number | null): void => {
    if (head === null) return
    const { status, headers } = head
    head = null
    const framing = length !== null && status !== 204 && status !== 304 ? ['content-length', String(length)] : []
    response.writeHead(status, [...headers, ...framing])
  }
  return {
    head(status, headers) {
      head = { status, headers }
    },
    write(chunk) {
      if (gone) return true
      sendHead(null)
      return response.write(chunk)
    },
    drained() {
      if (gone || !response.writableNeedDrain) return undefined
      return new Promise((resolve) => {
        const done = (): void => {
          response.off('drain', done)
          response.off('close', done)
          resolve()
        }
        response.on('drain', done)
        response.on('close', done)
      })
    },
    end(chunk) {
      if (ended || gone) return
      ended = true
      sendHead(chunk === undefined ? 0 : Buffer.byteLength(chunk))
      response.end(chunk)
    },
    get gone() {
      return gone
    },
    onGone(fn) {
      leave = fn
      if (gone) fn()
    },
  }
}
