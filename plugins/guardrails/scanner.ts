// Searches a text that arrives in pieces: the findings are the same for every split. Text is released as soon as no changing or refusing
// rule can still begin in it.
import { CONTEXT, type Rule, type Span } from './rule.ts'

interface Redaction {
  readonly rule: Rule
  readonly entity: string
  readonly start: number
  readonly end: number
}

interface ScannerUse {
  /** Called for a finding. @throws the decision that ends the text here. */
  hit(rule: Rule, entity: string): void
  /** Returns the replacement of text that a rule redacts. */
  replacement(rule: Rule, entity: string, found: string): string
  /** A rule threw: it is skipped for the rest of this text, unless this function throws. */
  broken(rule: Rule, error: unknown): void
}

/** A longer match is cut here, so that no more text is held back. */
const MAX_HELD = 16_384
/** A noncharacter. */
const MORE = '\uffff'

interface Search {
  readonly rule: Rule
  /** The position of the next attempt; everything before it is decided. Offsets start at the whole text's start. */
  cursor: number
  /** Prefixes of the text up to this length have been searched. */
  seen: number
  broken: boolean
}

export class Scanner {
  readonly #use: ScannerUse
  readonly #searches: readonly Search[]
  /** The text from `#base` on. */
  #text = ''
  #base = 0
  /** Text before this offset was returned. */
  #out = 0
  #ended = false
  #redactions: Redaction[] = []

  constructor(rules: readonly Rule[], use: ScannerUse) {
    this.#use = use
    this.#searches = rules.map((rule) => ({ rule, cursor: 0, seen: 0, broken: false }))
  }

  /** Takes a piece and returns the text that may be released. @throws as `hit` does. */
  push(piece: string): string {
    this.#text += piece
    this.#search()
    return this.#release()
  }

  /** Ends the text and returns the rest. */
  end(): string {
    this.#ended = true
    this.#search()
    return this.#release()
  }

  /** Number of received characters that were released, changed or not. */
  get released(): number {
    return this.#out
  }

  get #length(): number {
    return this.#base + this.#text.length
  }

  #search(): void {
    for (const search of this.#searches) {
      if (search.broken) continue
      try {
        this.#advance(search)
      } catch (error) {
        if (!(error instanceof FinderFailure)) throw error
        this.#use.broken(search.rule, error.cause)
        search.broken = true
      }
    }
  }

  #advance(search: Search): void {
    const { grid } = search.rule
    const length = this.#length
    if (grid > 1)
      for (let at = (Math.floor(search.seen / grid) + 1) * grid; at <= length; at += grid) {
        search.seen = at
        this.#look(search, at, false)
      }
    else if (!this.#ended) this.#look(search, length, false)
    if (this.#ended) this.#look(search, length, true)
  }

  /** Decides as much as possible with the text up to `limit`. */
  #look(search: Search, limit: number, last: boolean): void {
    const { rule } = search
    while (search.cursor < limit) {
      // Without this limit a held match would be searched again and again.
      const bounded = Math.min(limit, search.cursor + 2 * MAX_HELD)
      const ends = last && bounded === limit
      const span = this.#find(rule, search.cursor, bounded)
      if (span !== null && (ends || this.#isDecided(rule, span, bounded))) {
        this.#found(search, span)
        continue
      }
      const undecided = Math.max(search.cursor, bounded - rule.reach + 1)
      const held = span === null || bounded - span.start >= MAX_HELD ? undecided : Math.min(span.start, undecided)
      search.cursor = ends ? limit : held
      if (bounded === limit) return
    }
  }

  #isDecided(rule: Rule, span: Span, limit: number): boolean {
    if (span.read <= limit && span.start + rule.reach <= limit) return true
    if (limit - span.start < MAX_HELD) return false
    // The match continues, unless it only needed the end of the text, which this is not.
    const further = this.#find(rule, span.start, limit, MORE)
    return further !== null && further.start === span.start
  }

  #found(search: Search, span: Span): void {
    const { rule } = search
    const { start, entities = [rule.entity] } = span
    const end = Math.min(span.end, start + MAX_HELD)
    search.cursor = Math.max(end, start + 1)
    for (const entity of entities) this.#use.hit(rule, entity)
    if (rule.action === 'redact') this.#redactions.push({ rule, entity: entities[0] ?? rule.entity, start, end })
  }

  /** In offsets of the whole text. */
  #find(rule: Rule, from: number, limit: number, more = ''): Span | null {
    const view = (limit === this.#length ? this.#text : this.#text.slice(0, limit - this.#base)) + more
    let span: Span | null
    try {
      span = rule.find(view, from - this.#base)
    } catch (cause) {
      throw new FinderFailure('A detector failed.', { cause })
    }
    if (span === null) return null
    return { ...span, start: span.start + this.#base, end: span.end + this.#base, read: span.read + this.#base }
  }

  #release(): string {
    let safe = this.#length
    for (const { rule, cursor, broken } of this.#searches) if (!broken && rule.action !== 'log' && cursor < safe) safe = cursor
    // Half a surrogate pair must not be released.
    if (!this.#ended && isHighSurrogate(this.#text.charCodeAt(safe - 1 - this.#base))) safe--
    const text = this.#replaced(safe)
    this.#forget()
    return text
  }

  #replaced(safe: number): string {
    const found = this.#redactions.sort((a, b) => a.start - b.start || b.end - a.end)
    let text = ''
    let taken = 0
    while (taken < found.length) {
      const first = found[taken] as Redaction
      if (first.start >= safe) break
      let { end } = first
      let next = taken + 1
      for (; next < found.length && (found[next] as Redaction).start < end; next++)
        end = Math.max(end, (found[next] as Redaction).end)
      if (end > safe) {
        // Another match may begin in the undecided text and reach further.
        safe = first.start
        break
      }
      text += this.#slice(this.#out, first.start) + this.#use.replacement(first.rule, first.entity, this.#slice(first.start, end))
      this.#out = end
      taken = next
    }
    this.#redactions = found.slice(taken)
    if (safe > this.#out) {
      text += this.#slice(this.#out, safe)
      this.#out = safe
    }
    return text
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start - this.#base, end - this.#base)
  }

  #forget(): void {
    let needed = this.#out
    for (const { cursor, broken } of this.#searches) if (!broken && cursor < needed) needed = cursor
    const cut = needed - CONTEXT - this.#base
    if (cut < 256) return
    this.#text = this.#text.slice(cut)
    this.#base += cut
  }
}

/** An error of a finder, as opposed to a rule's decision. */
class FinderFailure extends Error {}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
