// A server that speaks a small part of the Redis protocol and can fail: it hangs, answers garbage, or dies.
import { createServer, type Socket } from 'node:net'

export interface FakeRedis {
  readonly url: string
  /** `silent` reads and never answers; `garbage` answers bytes outside the protocol. Applies from the next command on. */
  mode: 'ok' | 'silent' | 'garbage' | 'error'
  /** Received commands by name, without PING and the handshake. */
  readonly commands: string[]
  /** Closes every connection and the port. */
  die(): Promise<void>
  /** Listens again on the same port. */
  revive(): Promise<void>
}

/** @param answer one or more integers, the answer to every command except PING and the handshake. */
export async function fakeRedis(
  answer: (command: string, args: string[]) => number | readonly number[] = () => 0,
): Promise<FakeRedis> {
  const sockets = new Set<Socket>()
  const commands: string[] = []
  const reply = (command: string, args: string[]): string => {
    if (fake.mode === 'garbage') return '\u0000HTTP/1.1 400 Bad Request\r\n\r\n'
    if (command === 'info') return '$23\r\nredis_version:7.0.0\r\n\r\n\r\n'
    if (/^(auth|quit)$/.test(command)) return '+OK\r\n'
    // The answer of a server without RESP3; clients then use RESP2.
    if (command === 'hello') return '-NOPROTO unsupported protocol version\r\n'
    if (command !== 'ping') commands.push(command)
    if (fake.mode === 'error') return '-OOM command not allowed\r\n'
    return command === 'ping' ? '+PONG\r\n' : encoded(answer(command, args))
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    let pending = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      for (;;) {
        const parsed = readCommand(pending)
        if (parsed === null) return
        pending = pending.subarray(parsed.length)
        const [command = '', ...args] = parsed.words
        const answered = reply(command.toLowerCase(), args)
        if (fake.mode !== 'silent') socket.write(answered)
      }
    })
  })
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as { port: number }
  const fake: FakeRedis = {
    url: `redis://user:secret-canary@127.0.0.1:${port}`,
    mode: 'ok',
    commands,
    die: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.resetAndDestroy()
      }),
    revive: () => listen(port),
  }
  return fake
}

function encoded(answer: number | readonly number[]): string {
  return typeof answer === 'number' ? `:${answer}\r\n` : `*${answer.length}\r\n${answer.map(encoded).join('')}`
}

/** Returns a whole `*n` array of `$m` strings from the start of the buffer, or null while it is incomplete. */
function readCommand(buffer: Buffer): { words: string[]; length: number } | null {
  let at = 0
  const line = (): number | null => {
    const end = buffer.indexOf('\r\n', at)
    if (end < 0) return null
    const value = Number(buffer.toString('latin1', at + 1, end))
    at = end + 2
    return value
  }
  const count = line()
  if (count === null) return null
  const words: string[] = []
  while (words.length < count) {
    const size = line()
    if (size === null || at + size + 2 > buffer.length) return null
    words.push(buffer.toString('utf8', at, at + size))
    at += size + 2
  }
  return { words, length: at }
}
