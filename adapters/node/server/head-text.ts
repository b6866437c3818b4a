// Writes the head of an answer from lines that were checked and joined before. Node checks each name and each value of each answer with a
// regular expression and joins a line from four pieces, although most lines are the same in every answer.
import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'

/** The method in which `writeHead` ends. It adds the framing, the date and what keeps the connection. Other runtimes do not have it. */
interface HeadStore {
  _storeHeader?(firstLines: string, headers: readonly string[]): void
}

/** Node reads these, in any letter case: they frame the body and end the connection. */
const READ_BY_NODE = /^(?:connection|content-length|date|expect|keep-alive|trailer|transfer-encoding)$/i

/** A header with more values than this has another one in nearly every answer. */
const MOST_VALUES = 64
const MOST_NAMES = 256
/** Characters of a line that is kept. */
const MOST_CHARS = 512

/** Node writes the lines of this name. */
const NODES = 'node'
/** The lines of this name differ in nearly every answer, so they are not kept. */
const MANY = 'many'

/** Lines by value, for each name as it is spelled. */
const known = new Map<string, Map<string, string> | typeof NODES | typeof MANY>()

/**
 * Does what `writeHead` does for a flat list of names and values. Returns false when it cannot: then nothing was done.
 * @throws TypeError as `writeHead` does for a name or value that is not allowed.
 */
export function storeHead(res: ServerResponse, status: number, headers: readonly string[]): boolean {
  const store = res as HeadStore
  // These have no body. A middleware's own headers are joined with these by Node.
  if (store._storeHeader === undefined || status < 200 || status === 204 || status === 304) return false
  if (res.headersSent || res.getHeaderNames().length > 0) return false
  const message = STATUS_CODES[status] ?? 'unknown'
  let lines = `HTTP/1.1 ${status} ${message}\r\n`
  const rest: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const values = known.get(name) ?? valuesOf(name)
    if (values === NODES) rest.push(name, value)
    else if (values === MANY) {
      validateHeaderValue(name, value)
      lines += `${name}: ${value}\r\n`
    } else lines += values.get(value) ?? newLine(name, value, values)
  }
  res.statusCode = status
  res.statusMessage = message
  store._storeHeader(lines, rest)
  return true
}

function newLine(name: string, value: string, values: Map<string, string>): string {
  validateHeaderValue(name, value)
  // One flat text: a sum would stay a tree of its pieces.
  const line = Buffer.from(`${name}: ${value}\r\n`, 'latin1').toString('latin1')
  if (values.size >= MOST_VALUES || name.length + value.length > MOST_CHARS) known.set(name, MANY)
  else values.set(value, line)
  return line
}

/** @throws TypeError for a name that is not allowed. */
function valuesOf(name: string): Map<string, string> | typeof NODES | typeof MANY {
  validateHeaderName(name)
  const values = READ_BY_NODE.test(name) ? NODES : new Map<string, string>()
  if (known.size >= MOST_NAMES || name.length > MOST_CHARS) return values === NODES ? NODES : MANY
  known.set(name, values)
  return values
}
