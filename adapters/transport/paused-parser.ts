// An upstream may close its connection while a slow reader has paused undici's parser. undici 7 then throws from an event of the socket, which
// ends the process (undici issue 5360). Version 8 parses the rest first. It needs Node 22.
import { createRequire } from 'node:module'
import type { Socket } from 'node:net'
import type { Client } from 'undici/index.js'

interface Parser {
  paused: boolean
  readonly socket: Socket
  readonly ptr: number | null
  readonly llhttp: { llhttp_resume(parser: number): void }
  execute(bytes: Buffer): void
  finish(): Error | null
}

interface Symbols {
  readonly kSocket: symbol
  readonly kParser: symbol
}

type Connected = Record<symbol, Record<symbol, Parser | undefined> | undefined>

const NONE = Buffer.alloc(0)

/** undici does not export its parser. The first connection of any client shows it; all clients share its class. */
export function finishPausedAnswers({ prototype }: typeof Client): void {
  const symbols = symbolsOf()
  if (symbols === null || Object.hasOwn(prototype, 'emit')) return
  const emit = prototype.emit as (event: string, ...args: unknown[]) => boolean
  const first = function (this: Client, event: string, ...args: unknown[]): boolean {
    const parser = event === 'connect' ? (this as unknown as Connected)[symbols.kSocket]?.[symbols.kParser] : undefined
    if (parser !== undefined) {
      Reflect.deleteProperty(prototype, 'emit')
      mend(Object.getPrototypeOf(parser) as Parser)
    }
    return emit.call(this, event, ...args)
  }
  prototype.emit = first as typeof prototype.emit
}

/** The file is no part of undici's interface. A version without it is newer than this error. */
function symbolsOf(): Symbols | null {
  try {
    return createRequire(import.meta.url)('undici/lib/core/symbols.js') as Symbols
  } catch {
    return null
  }
}

function mend(prototype: Parser): void {
  const { finish } = prototype
  prototype.finish = function (): Error | null {
    if (this.paused) parseRest(this)
    return finish.call(this)
  }
}

/** The reader gets pieces that it did not ask for: at most what the socket had buffered. */
function parseRest(parser: Parser): void {
  let bytes: Buffer
  do {
    resume(parser)
    bytes = parser.socket.read() ?? NONE
    parser.execute(bytes)
  } while (parser.paused && bytes.length > 0)
  // An answer without a length stays paused until it hears of its end.
  if (parser.paused) resume(parser)
}

function resume(parser: Parser): void {
  if (parser.ptr !== null) parser.llhttp.llhttp_resume(parser.ptr)
  parser.paused = false
}
