// Parses inline think tags: splits pieces of text into text and reasoning. Every recognised tag is removed, at any position. At most ten
// characters are held back, while they may still become a tag. Text without tags is unchanged.

export interface TagSink {
  text(piece: string): void
  reasoning(piece: string): void
}

export type Tag = 'open' | 'close'

const TAGS: readonly (readonly [string, Tag])[] = [
  ['<think>', 'open'],
  ['</think>', 'close'],
  ['<thinking>', 'open'],
  ['</thinking>', 'close'],
]
const LT = 0x3c
const NEWLINE = 0x0a
const BACKTICK = 0x60
/** Backticks at the start of a line that open or close fenced code. */
const FENCE = 3

export class ThinkTagParser {
  /** The first recognised tag. */
  first: Tag | null = null
  #thinking: boolean
  #held = ''
  /** White space directly after a tag is dropped. A thought of only white space is no thought. */
  #trimming: boolean
  /**
   * Number of backticks that opened this fence; 0 outside. Only text has fences: a thought with an unclosed fence must not hide the
   * answer.
   */
  #fence = 0
  /** Number of backticks at the start of the line; -1 after any other character. */
  #ticks = 0

  /** `thinking`: starts inside a thought, because the chat template wrote the opening tag. */
  constructor(thinking = false) {
    this.#thinking = thinking
    this.#trimming = thinking
  }

  push(piece: string, sink: TagSink): void {
    const text = this.#held + piece
    this.#held = ''
    let from = 0
    let at = 0
    while (at < text.length) {
      const code = text.charCodeAt(at)
      if (this.#trimming && isSpace(code)) {
        from = ++at
        continue
      }
      this.#trackFence(code)
      if (code === LT && this.#fence === 0) {
        const found = tagAt(text, at)
        if (found === 'partial') break
        if (found !== null) {
          this.#give(text.slice(from, at), sink)
          this.#turn(found[1])
          at += found[0].length
          from = at
          continue
        }
      }
      this.#trimming = false
      at++
    }
    this.#give(text.slice(from, at), sink)
    this.#held = text.slice(at)
  }

  /** The text ends, so the held characters are not a tag. */
  release(sink: TagSink): void {
    const rest = this.#held
    this.#held = ''
    if (rest !== '') this.#trimming = false
    this.#give(rest, sink)
  }

  #give(piece: string, sink: TagSink): void {
    if (piece === '') return
    if (this.#thinking) sink.reasoning(piece)
    else sink.text(piece)
  }

  #turn(tag: Tag): void {
    this.first ??= tag
    // A tag without effect (a second opening tag, an unmatched closing tag) is removed and the text around it stays.
    if (this.#thinking === (tag === 'open')) return
    this.#thinking = tag === 'open'
    this.#trimming = true
    this.#ticks = 0
  }

  #trackFence(code: number): void {
    if (this.#thinking) return
    if (code === BACKTICK) {
      if (this.#ticks >= 0) this.#ticks++
      return
    }
    if (this.#ticks >= FENCE) {
      if (this.#fence === 0) this.#fence = this.#ticks
      else if (this.#ticks >= this.#fence) this.#fence = 0
    }
    this.#ticks = code === NEWLINE ? 0 : -1
  }
}

function tagAt(text: string, at: number): readonly [string, Tag] | 'partial' | null {
  const left = text.length - at
  for (const tag of TAGS) {
    if (text.startsWith(tag[0], at)) return tag
    if (left < tag[0].length && tag[0].startsWith(text.slice(at))) return 'partial'
  }
  return null
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}
