// Replaces matches in a text that arrives in pieces. The result is the same however the text is cut, as long as no match is longer than
// the window.

export class HeldText {
  readonly #pattern: RegExp
  readonly #replace: (match: string) => string
  readonly #window: number
  /** Text before `#from` is released already; it stays for what a match looks at behind itself. */
  #text = ''
  #from = 0

  constructor(pattern: RegExp, replace: (match: string) => string, window: number) {
    // A copy, because the place of the next match is part of a regular expression.
    this.#pattern = new RegExp(pattern.source, pattern.flags)
    this.#replace = replace
    this.#window = window
  }

  /** Returns the text that is final now. */
  push(piece: string): string {
    this.#text += piece
    return this.#release(this.#text.length - this.#window)
  }

  end(): string {
    return this.#release(Number.POSITIVE_INFINITY)
  }

  /** Releases the text before `until`, and the whole of a match that begins before it. */
  #release(until: number): string {
    if (until <= this.#from) return ''
    const text = this.#text
    let out = ''
    let from = this.#from
    this.#pattern.lastIndex = from
    for (let match = this.#pattern.exec(text); match !== null && match.index < until; match = this.#pattern.exec(text)) {
      // An empty match replaces nothing; step over it.
      if (match[0] === '') this.#pattern.lastIndex++
      else {
        out += text.slice(from, match.index) + this.#replace(match[0])
        from = match.index + match[0].length
      }
    }
    const end = wholeCharacter(text, from, Math.min(text.length, Math.max(from, until)))
    out += text.slice(from, end)
    const kept = Math.max(0, end - this.#window)
    this.#text = text.slice(kept)
    this.#from = end - kept
    return out
  }
}

/** Returns the end, or the place before it when the end divides a surrogate pair. */
function wholeCharacter(text: string, from: number, end: number): number {
  const high = text.charCodeAt(end - 1)
  return end > from && end < text.length && high >= 0xd800 && high <= 0xdbff ? end - 1 : end
}
