// Compiles the rules of some settings without a gateway.
import { silentLog } from '../../../core/log.ts'
import { Inspection } from '../../../plugins/guardrails/inspection.ts'
import { policyOf } from '../../../plugins/guardrails/policy.ts'
import { Redactor } from '../../../plugins/guardrails/redactor.ts'
import type { Direction, TextInfo } from '../../../plugins/guardrails/service.ts'
import { type Settings, settings } from '../../../plugins/guardrails/settings.ts'

export function settingsWith(changes: Record<string, unknown>): Settings {
  const given: Record<string, unknown> = { enabled: true, ...changes }
  return Object.fromEntries(
    Object.entries(settings).map(([key, schema]) => [key, schema.parse(given[key.slice('guardrails.'.length)])]),
  ) as Settings
}

export interface Bare {
  /** `detector entity`, in the order of the findings. */
  readonly found: string[]
  text(text: string): string
  /** `each` gets each piece and the released text. */
  pieces(pieces: readonly string[], each?: (piece: string, given: string) => void): string
}

export function bare(changes: Record<string, unknown>, direction: Direction = 'output'): Bare {
  const found: string[] = []
  const policy = policyOf(settingsWith(changes))
  const findings = { add: (detector: string, entity: string) => void found.push(`${detector} ${entity}`) }
  const inspection = new Inspection({
    direction,
    rules: policy.rules[direction],
    local: [],
    findings: findings as never,
    redactor: new Redactor(false),
    log: silentLog,
  })
  const info: TextInfo = { direction, role: 'user', place: 'text' }
  return {
    found,
    text: (text) => inspection.text(text, info),
    pieces(pieces, each = () => {}) {
      const scanner = inspection.scanner(info)
      const out = pieces.map((piece) => {
        const given = scanner.push(piece)
        each(piece, given)
        return given
      })
      return out.join('') + scanner.end()
    },
  }
}

export const PII_AND_SECRETS = {
  'pii.mode': 'redact',
  'pii.output': true,
  'secrets.mode': 'redact',
}
