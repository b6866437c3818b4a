// JSON text inside JSON: tool arguments travel as the text they came in, so that no digit of a big number is lost.

const nonce = Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2)
const LINE_BREAK = /[\r\n]/
const LINE_BREAKS = /[\r\n]+/g
let pending: string[] | null = null

/** Marks a value whose JSON text is already known; `text` must be valid JSON. It is kept on one line, as a frame needs it. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    // Valid JSON has raw line breaks between tokens only.
    this.text = LINE_BREAK.test(text) ? text.replace(LINE_BREAKS, ' ') : text
  }

  toJSON(): string {
    if (pending === null) return this.text
    pending.push(this.text)
    return `\u0001${nonce}${pending.length - 1}\u0001`
  }
}

/** JSON.stringify that writes the text of RawJson values as it is. */
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

/** True when parsing and printing this JSON text could change a number. */
export function hasBigNumber(text: string): boolean {
  return /\d{16}|\d[.]\d{15}|[eE][+-]?\d/.test(text)
}
