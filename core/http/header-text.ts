// Checks header lines that plugins write: no text may end a line, and none may be refused by the server.

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** Returns the name. @throws TypeError for a text that cannot be a header name. */
export function headerName(name: string): string {
  if (typeof name === 'string' && TOKEN.test(name)) return name
  throw new TypeError(`\`${String(name).slice(0, 60)}\` cannot be the name of a header`)
}

/** The server derives these from the body that it sends; a second value would make clients read the answer wrongly. */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade'])

/** Returns the name in lower case. @throws TypeError for a text that cannot be a header name, and for a header that frames the answer. */
export function answerHeaderName(name: string): string {
  const lower = headerName(name).toLowerCase()
  if (!FRAMING.has(lower)) return lower
  throw new TypeError(`the gateway sets the header \`${lower}\` itself; change the answer in the hook \`response\` instead`)
}

/** Returns the value as text with `?` in place of characters that a header cannot hold: control characters, and those outside Latin-1. */
export function headerValue(value: string): string {
  return String(value).replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}
