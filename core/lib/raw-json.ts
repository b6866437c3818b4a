// JSON text inside JSON: tool arguments travel as the text they came in, so that no digit of a big number is lost.

const nonce = Math.random().toString(36).slice(2) + Math.random().toString(36).slice(2)
let pending: string[] | null = null

/** Marks a value whose JSON text is already known; `text` must be valid JSON. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    if (pending === null) return this.text
    pending.push(this.text)
    return `\u0001${nonce}${pending.length - 1}\u0001`
  }
}

/** JSON.stringify that writes RawJson values verbatim. */
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
