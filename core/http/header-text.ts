// Header lines that plugins write: nothing that could end one, and nothing that a server refuses to send.

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** @throws TypeError for what cannot be the name of a header. */
export function headerName(name: string): string {
  if (typeof name === 'string' && TOKEN.test(name)) return name
  throw new TypeError(`\`${String(name).slice(0, 60)}\` cannot be the name of a header`)
}

/** As text, with `?` for what no header may hold: control characters, and what is beyond Latin-1. */
export function headerValue(value: string): string {
  return String(value).replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
}
