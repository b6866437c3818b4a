// Writes the head of an answer from lines that were checked and joined before. Node checks each name and each value of each answer with a
// regular expression and joins a line from four pieces, although most lines are the same in every answer.
import { type ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http'

/** The method in which `writeHead` ends. It adds the framing, the date and what keeps the connection. Other runtimes do not have it. */
interface HeadStore {
  _storeHeader?(firstLines: string, headers: readonly string[]): void
}

/** Node reads these: they frame the body and end the connection. */
const READ_BY_NODE = ['connection', 'content-length', 'date', 'expect', 'keep-alive', 'trailer', 'transfer-encoding']

/** A header with more values than this has another one in nearly every answer. */
const MOST_VALUES = 64
const MOST_NAMES = 256

/** Lines by name and value; null: the values of this name are not kept. */
const known = new Map<string, Map<string, string> | null>(READ_BY_NODE.map((name) => [name, null]))

/**
 * Does what `writeHead` does for a list of names in lower case and values. Returns false when it cannot: then nothing was done.
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
    const values = known.get(name)
    const line = values?.get(value) ?? (values === null ? null : newLine(name, value))
    if (line === null) rest.push(name, value)
    else lines += line
  }
  res.statusCode = status
  res.statusMessage = message
  store._storeHeader(lines, rest)
  return true
}

function newLine(name: string, value: string): string | null {
  let values = known.get(name)
  if (values === undefined) {
    if (known.size >= MOST_NAMES) return null
    validateHeaderName(name)
    values = new Map()
    known.set(name, values)
  }
  if (values === null) return null
  validateHeaderValue(name, value)
  if (values.size >= MOST_VALUES) {
    known.set(name, null)
    return null
  }
  // One flat text: a sum would stay a tree of its pieces.
  const line = Buffer.from(`${name}: ${value}\r\n`, 'latin1').toString('latin1')
  values.set(value, line)
  return line
}
