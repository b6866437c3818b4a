// Inspects one direction of one request: its rules, their findings and the replacements.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Logger } from '../../core/types/ports/ports.ts'
import { WINDOWS } from './policy.ts'
import type { Redactor } from './redactor.ts'
import { CONTEXT, type Findings, type Rule, type Span } from './rule.ts'
import { Scanner } from './scanner.ts'
import type { Direction, LocalDetector, TextInfo } from './service.ts'

// Wraps other plugins' synchronous detectors as rules over windows of a text.
function localRule(detector: LocalDetector, info: TextInfo): Rule {
  let shown: { text: string; from: number; spans: readonly Span[] } | null = null
  const spansIn = (text: string, from: number) => {
    const lead = Math.max(0, from - CONTEXT)
    return detector
      .check(text.slice(lead), info)
      .map(({ entity, start = 0, end = text.length - lead }) => ({
        entities: [entity],
        start: start + lead,
        end: end + lead,
        read: end + lead + 1,
      }))
      .filter(({ start, end }) => Number.isInteger(start) && end > start && end <= text.length)
      .sort((a, b) => a.start - b.start)
  }
  return {
    detector: detector.name,
    entity: 'finding',
    action: detector.mode,
    failOpen: detector.failOpen ?? detector.mode !== 'block',
    minHits: null,
    ...WINDOWS[info.direction],
    find(text: string, from: number): Span | null {
      if (shown === null || shown.text !== text || from < shown.from) shown = { text, from, spans: spansIn(text, from) }
      return shown.spans.find(({ start }) => start >= from) ?? null
    },
  }
}

export class Inspection {
  readonly findings: Findings
  readonly #direction: Direction
  readonly #rules: readonly Rule[]
  readonly #local: readonly LocalDetector[]
  readonly #redactor: Redactor
  readonly #log: Logger
  /** Hits of rules that need several, over all texts, by rule and entity. */
  readonly #hits = new Map<Rule['minHits'], Map<string, number>>()

  constructor(init: {
    direction: Direction
    rules: readonly Rule[]
    local: readonly LocalDetector[]
    findings: Findings
    redactor: Redactor
    log: Logger
  }) {
    this.findings = init.findings
    this.#direction = init.direction
    this.#rules = init.rules
    this.#local = init.local
    this.#redactor = init.redactor
    this.#log = init.log
  }

  get slowRules(): number {
    return this.#rules.filter(({ grid }) => grid > 1).length + this.#local.length
  }

  /** Returns a scanner for a text that arrives in pieces. Calls `changed` after a redaction. */
  scanner(info: TextInfo, changed: () => void = () => {}): Scanner {
    const rules = this.#local.length === 0 ? this.#rules : [...this.#rules, ...this.#local.map((one) => localRule(one, info))]
    return new Scanner(rules, {
      hit: (rule, entity) => this.#hit(rule, entity),
      broken: (rule, error) => this.broken(rule.detector, rule.failOpen, error),
      replacement: (rule, entity, found) => {
        changed()
        return this.#redactor.replacement(rule.detector, entity, found)
      },
    })
  }

  text(text: string, info: TextInfo): string {
    const scanner = this.scanner(info)
    return scanner.push(text) + scanner.end()
  }

  /** @throws GatewayError 503 when a failing detector must block. */
  broken(detector: string, failOpen: boolean, cause: unknown): void {
    this.findings.failed(detector)
    this.#log.error('guardrail.failed', {
      detector,
      direction: this.#direction,
      failOpen,
      // Its message may quote the text.
      error: cause instanceof Error ? cause.name : typeof cause,
    })
    if (!failOpen)
      throw GatewayError.unavailable(`The guardrail '${detector}' failed. Try again later.`, { code: 'plugin_failed' })
  }

  #hit(rule: Rule, entity: string): void {
    const needed = rule.minHits?.get(entity) ?? 1
    if (needed > 1) {
      const counts = this.#hits.get(rule.minHits) ?? new Map<string, number>()
      this.#hits.set(rule.minHits, counts)
      const hits = (counts.get(entity) ?? 0) + 1
      counts.set(entity, hits)
      if (hits < needed) return
    }
    this.findings.add(rule.detector, entity, rule.action, this.#direction)
  }
}

/** Reads a text after its context. When a rule changes the combination, the text is read alone. */
export function readAfter(lead: string, text: string, read: (text: string) => string): string {
  if (lead === '') return read(text)
  const seen = read(lead + text)
  return seen.startsWith(lead) ? seen.slice(lead.length) : read(text)
}
