// A rule that can run on pieces of a text. An attempt at a position reads at most `reach` characters from there, unless it has matched. A
// match reads at most to the end of its last run of characters.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { RequestContext } from '../../core/types/request/context.ts'
import type { Action, Direction } from './service.ts'

export interface Span {
  readonly start: number
  readonly end: number
  /** One after the last character that was read; larger than the text when the match could continue. */
  readonly read: number
  /** For a rule with several entities: which of them matched. */
  readonly entities?: readonly string[]
}

export interface Rule {
  readonly detector: string
  readonly entity: string
  readonly action: Action
  /** True: when it throws, the text passes; false: it is refused. */
  readonly failOpen: boolean
  /** Number of hits before it takes effect, by entity; default one. */
  readonly minHits: ReadonlyMap<string, number> | null
  readonly reach: number
  /** 1: it may run on any prefix of the text. More: only on prefixes of multiples of this length, otherwise the result would vary. */
  readonly grid: number
  /** Returns the first match at or after `from`; may read up to 72 characters before it. */
  find(text: string, from: number): Span | null
}

export type Finder = Pick<Rule, 'entity' | 'reach' | 'find'>

/** Characters before a position that stay visible. */
export const CONTEXT = 72

/** `source` may read at most one character after the match. `spanOf` narrows or rejects a match. */
export function patternFinder(
  entity: string,
  reach: number,
  source: RegExp,
  spanOf: (match: RegExpExecArray) => Span | null = wholeMatch,
): Finder {
  const pattern = new RegExp(source.source, `${source.flags.replace('g', '')}g`)
  return {
    entity,
    reach,
    find(text, from) {
      pattern.lastIndex = from
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        const span = spanOf(match)
        if (span !== null) return span
        pattern.lastIndex = match.index + 1
      }
      return null
    },
  }
}

export function wholeMatch(match: RegExpExecArray): Span {
  const end = match.index + match[0].length
  return { start: match.index, end, read: end + 1 }
}

/** The form for the log. */
type Found = { detector: string; entity: string; action: Action; direction: Direction; count: number }

const MAX_NAME = 64
const MAX_KINDS = 100

export class Findings {
  readonly #ctx: RequestContext
  readonly #counted: (detector: string, action: Action | 'failed') => void
  readonly #all = new Map<string, Found>()

  constructor(ctx: RequestContext, counted: (detector: string, action: Action | 'failed') => void) {
    this.#ctx = ctx
    this.#counted = counted
  }

  failed(detector: string): void {
    this.#counted(detector, 'failed')
  }

  /** @throws GatewayError 400 naming the member, whose content no detector can read. */
  refuseUnread(param: string): never {
    this.#note('tokens', 'unread', 'block', 'input')
    const message = `A guardrail blocks requests and cannot read tokens. Send \`${param}\` as text.`
    throw GatewayError.invalid(param, message, 'guardrail_blocked')
  }

  /** @throws GatewayError 400 when the action is to block. */
  add(detector: string, entity: string, action: Action, direction: Direction): void {
    this.#note(detector, entity, action, direction)
    if (action === 'block') throw GatewayError.blocked(detector, direction === 'input' ? 'request' : 'answer')
  }

  #note(detector: string, entity: string, action: Action, direction: Direction): void {
    // A third-party detector may use any name.
    const name = entity.slice(0, MAX_NAME)
    const key = `${detector} ${name} ${action} ${direction}`
    const found = this.#all.get(key) ?? { detector, entity: name, action, direction, count: 0 }
    found.count++
    if (found.count > 1 || this.#all.size < MAX_KINDS) this.#all.set(key, found)
    this.#counted(detector, action)
    this.#ctx.note(
      'guardrails',
      [...this.#all.values()].map((one) => ({ ...one })),
    )
  }
}
