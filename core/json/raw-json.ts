// Embeds JSON text in JSON: tool arguments keep their original text, so that big numbers keep every digit.

const nonce = Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2)
const LINE_BREAK = /[\r\n]/
const LINE_BREAKS = /[\r\n]+/g
let pending: string[] | null = null

/** Marks a value whose JSON text is known; `text` must be valid JSON. It is kept on one line, because SSE frames need that. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    // In valid JSON, raw line breaks occur only between tokens.
    this.text = LINE_BREAK.test(text) ? text.replace(LINE_BREAKS, ' ') : text
  }

  toJSON(): string {
    if (pending === null) return this.text
    pending.push(this.text)
    return `\u0001${nonce}${pending.length - 1}\u0001`
  }
}

/** Works like JSON.stringify and writes the text of RawJson values unchanged. */
export function stringify(value: unknown): string {
  pending = []
  const texts = pending
  try {
    const out = JSON.stringify(value)
    if (texts.length === 0) return out
    return out.replace(new RegExp(`"\\\\u0001${nonce}(\\d+)\\\\u0001"`, 'g'), (_, index) => texts[Number(index)] as string)
  } finally {
    pending = null
  }
}

/** Returns whether parsing and printing this JSON text could change a number. */
export function hasBigNumber(text: string): boolean {
  // Most matches are inside a string, like the `e1` of a file's name.
  return BIG_NUMBER.test(text) && BIG_NUMBER.test(text.replace(STRINGS, '""'))
}

const BIG_NUMBER = /\d{16}|\d[.]\d{15}|[eE][+-]?\d/
const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g
