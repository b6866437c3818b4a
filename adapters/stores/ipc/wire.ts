// Messages between two processes over a socket: JSON lines, each a list of messages. Messages of one turn of the event loop are sent
// together, with one write.
import type { Duplex } from 'node:stream'

/** A kind, then its arguments; JSON values only. */
export type Message = readonly [kind: string, ...rest: readonly unknown[]]

export interface Wire {
  send(message: Message): void
  close(): void
}

/** @param take called for each message, in order. @param gone called once, when the socket has ended for whatever reason. */
export function wire(socket: Duplex, take: (message: Message) => void, gone: () => void): Wire {
  let waiting: Message[] = []
  let over = false
  const flush = (): void => {
    const messages = waiting
    waiting = []
    if (!over && messages.length > 0) socket.write(`${JSON.stringify(messages)}\n`)
  }
  const ended = (): void => {
    if (over) return
    over = true
    gone()
  }
  const parts: string[] = []
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      parts.push(text.slice(from, end))
      from = end + 1
      const line = parts.length === 1 ? (parts[0] as string) : parts.join('')
      parts.length = 0
      for (const message of JSON.parse(line) as Message[]) take(message)
    }
    if (from < text.length) parts.push(from === 0 ? text : text.slice(from))
  })
  socket.on('error', ended)
  socket.on('end', ended)
  socket.on('close', ended)
  return {
    send(message) {
      if (over) return
      if (waiting.push(message) === 1) setImmediate(flush)
    },
    close() {
      flush()
      over = true
      socket.end()
    },
  }
}
