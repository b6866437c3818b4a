// Adds to node:sqlite and bun:sqlite two abilities of better-sqlite3: whether a statement writes, and the error for a text with several statements.

/** `prepare` of these libraries compiles the first statement and drops the rest. @throws RangeError when there is a rest. */
export function refuseSeveral(text: string, compiled: string): void {
  if (/^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/.test(text.slice(compiled.length))) return
  throw new RangeError('The supplied SQL string contains more than one statement')
}

/** Returns false for a WITH whose text has the name of a write: it may be one, and then the connection that writes runs it. */
export function writesNothing(text: string): boolean {
  const [, word = ''] = /^\s*(\w+)/.exec(text) ?? []
  if (/^(?:select|values)$/i.test(word)) return true
  return /^with$/i.test(word) && !/\b(?:insert|update|delete|replace)\b/i.test(text)
}
