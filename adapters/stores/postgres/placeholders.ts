// `?` to `$1`, `$2`, … outside quotes and comments.

/** Strings (also E'' with backslashes), quoted identifiers, dollar quotes and comments, each as one token. */
const TOKEN = /\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\/|\?/g

export function numbered(text: string): string {
  let count = 0
  return text.replace(TOKEN, (token) => (token === '?' ? `$${++count}` : token))
}
