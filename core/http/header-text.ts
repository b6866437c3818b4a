// Checks header lines that plugins write: no text may end a line, and none may be refused by the server.

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** Returns the name. @throws TypeError for a text that cannot be a header name. */
export function headerName(name: string): string {
  if (typeof name === 'string' && TOKEN.test(name)) return name
  throw new TypeError(`\`${String(name).slice(0, 60)}\` cannot be the name of a header`)
}

/** Returns the value as text with `?` in place of characters that a header cannot hold: control characters, and those outside Latin-1. */
export function headerValue(value: string): string {
  return String(value).replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}
