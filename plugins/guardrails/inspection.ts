// One direction of one request: its rules, what they found, and what stands for it.
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Logger } from '../../core/types/ports.ts'
import type { Findings } from './findings.ts'
import { localRule } from './local-rules.ts'
import type { Redactor } from './redactor.ts'
import type { Rule } from './rule.ts'
import { Scanner } from './scanner.ts'
import type { Direction, LocalDetector, TextInfo } from './service.ts'

export class Inspection {
  readonly findings: Findings
  readonly #direction: Direction
  readonly #rules: readonly Rule[]
  readonly #local: readonly LocalDetector[]
  readonly #redactor: Redactor
  readonly #log: Logger
  /** Hits of rules that need more than one, over all texts. */
  readonly #hits = new Map<string, number>()

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

  /** A scanner for a text that arrives in pieces. Calls `changed` after a redaction. */
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

  /** @throws GatewayError 503 where a detector that failed must not let anything pass. */
  broken(detector: string, failOpen: boolean, cause: unknown): void {
    this.findings.failed(detector)
    this.#log.error('guardrail.failed', {
      detector,
      direction: this.#direction,
      failOpen,
      // Its message may quote what it was shown.
      error: cause instanceof Error ? cause.name : typeof cause,
    })
    if (!failOpen)
      throw GatewayError.unavailable(`The guardrail '${detector}' failed. Try again later.`, { code: 'plugin_failed' })
  }

  #hit(rule: Rule, entity: string): void {
    const needed = rule.minHits?.get(entity) ?? 1
    if (needed > 1) {
      const hits = (this.#hits.get(entity) ?? 0) + 1
      this.#hits.set(entity, hits)
      if (hits < needed) return
    }
    this.findings.add(rule.detector, entity, rule.action, this.#direction)
  }
}

/** With what the text is to be read after; a rule that changes that is given the text alone. */
export function readAfter(lead: string, text: string, read: (text: string) => string): string {
  if (lead === '') return read(text)
  const seen = read(lead + text)
  return seen.startsWith(lead) ? seen.slice(lead.length) : read(text)
}
