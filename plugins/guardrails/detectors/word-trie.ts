// Finds many words at once, as whole words: letters without case and accents, white space of any length. It walks once from each possible
// word start, so the time does not depend on the number of words.
import type { Span } from '../rule.ts'

export const MAX_WORD = 128
/** Characters that one space of a word may match. */
const MAX_SPACE = 8
/** From the first character of a match, with one character after it. */
export const WORD_REACH = MAX_WORD + 1

interface Node {
  readonly next: Map<number, Node>
  /** Owners of the word; empty: not a word. */
  readonly owners: string[]
}

type Fold = (code: number) => number

export class WordTrie {
  readonly #root: Node = node()
  readonly #fold: Fold

  /** `lists`: words by their owner. */
  constructor(lists: ReadonlyMap<string, readonly string[]>, caseSensitive: boolean) {
    this.#fold = caseSensitive ? asIs : folding()
    for (const [owner, words] of lists) for (const word of words) this.#add(word.trim().replace(/\s+/g, ' '), owner)
  }

  /** Returns the first match at or after `from`, the longest at that place; `entities` own the words that begin there. */
  find(text: string, from: number): Span | null {
    const root = this.#root.next
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (!root.has(this.#fold(code))) continue
      if (at > 0 && joins(code) && joins(text.charCodeAt(at - 1))) continue
      const span = this.#match(text, at)
      if (span !== null) return span
    }
    return null
  }

  #match(text: string, start: number): Span | null {
    let at = start
    let here: Node | undefined = this.#root
    let end = -1
    const entities: string[] = []
    const limit = Math.min(text.length, start + MAX_WORD)
    while (at < limit) {
      const code = text.charCodeAt(at)
      if (isSpace(code)) {
        here = here.next.get(SPACE)
        for (let run = 0; run < MAX_SPACE && at < limit && isSpace(text.charCodeAt(at)); run++) at++
      } else {
        here = here.next.get(this.#fold(code))
        at++
      }
      if (here === undefined) break
      if (here.owners.length === 0 || (at < text.length && joins(text.charCodeAt(at - 1)) && joins(text.charCodeAt(at)))) continue
      end = at
      for (const owner of here.owners) if (!entities.includes(owner)) entities.push(owner)
    }
    return end === -1 ? null : { start, end, read: at + 1, entities }
  }

  #add(word: string, owner: string): void {
    let here = this.#root
    for (let at = 0; at < word.length; at++) {
      const code = this.#fold(word.charCodeAt(at))
      const next = here.next.get(code) ?? node()
      here.next.set(code, next)
      here = next
    }
    here.owners.push(owner)
  }
}

const SPACE = 0x20

function node(): Node {
  return { next: new Map(), owners: [] }
}

function isSpace(code: number): boolean {
  return code === SPACE || (code >= 0x09 && code <= 0x0d) || code === 0xa0
}

function asIs(code: number): number {
  return code
}

/** Maps one character to one, so that offsets stay. */
function folding(): Fold {
  const known = new Map<number, number>()
  return (code) => {
    if (code < 0x80) return code >= 0x41 && code <= 0x5a ? code + 0x20 : code
    let folded = known.get(code)
    if (folded === undefined) {
      const plain = String.fromCharCode(code).normalize('NFKD').toLowerCase()
      folded = plain.charCodeAt(0)
      known.set(code, folded)
    }
    return folded
  }
}

const LETTER = /[\p{L}\p{N}_]/u

/** Returns true for letters and digits that form words. In scripts without spaces each character stands alone. */
function joins(code: number): boolean {
  if (code < 0x80)
    return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x5f
  if ((code >= 0x0e00 && code <= 0x0eff) || (code >= 0x2e80 && code <= 0xd7ff) || (code >= 0xf900 && code <= 0xfaff)) return false
  return code < 0xd800 && LETTER.test(String.fromCharCode(code))
}
