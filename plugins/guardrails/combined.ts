// The policy of an organization: the gateway's own, which applies to everyone, and the rules that the organization adds. It cannot weaken the
// gateway's policy.
import { type InjectionPolicy, type Policy, policyOf, redactsInput } from './policy.ts'
import type { Rule } from './rule.ts'
import type { Action, Direction } from './service.ts'
import type { SettingKey, Settings } from './settings.ts'

/** `own` holds what is set for the organization, with the inherited values. */
export function combinedPolicy(gateway: Settings, own: Settings): Policy {
  const base = policyOf(gateway)
  const added = policyOf(own)
  if (!base.enabled) return added
  if (!added.enabled) return base
  return {
    enabled: true,
    rules: { input: bothRules('input'), output: bothRules('output') },
    injection: distinct([...base.injection, ...added.injection]),
    asked: {
      action: 'block',
      threshold: Math.min(base.asked.threshold, added.asked.threshold),
      toolResults: base.asked.toolResults || added.asked.toolResults,
    },
    tokens: TOKENS[base.tokens] >= TOKENS[added.tokens] ? base.tokens : added.tokens,
    restore:
      [base, added].some(({ restore }) => restore) &&
      [gateway, own].every((set) => !redactsInput(set) || set['guardrails.pii.restore']),
    version: JSON.stringify([base.version, added.version]),
  }

  function bothRules(direction: Direction): Rule[] {
    const rules = [...base.rules[direction]]
    for (const rule of added.rules[direction]) {
      const same = LISTED.has(rule.detector)
        ? -1
        : rules.findIndex(({ detector, entity }) => detector === rule.detector && entity === rule.entity)
      if (same === -1) {
        if (!LISTED.has(rule.detector) || !equal(gateway, own, rule.detector)) rules.push(rule)
      } else if (ACTIONS[rule.action] > ACTIONS[(rules[same] as Rule).action]) rules[same] = rule
    }
    return rules
  }
}

/** The findings of these detectors depend on their lists, so that the rules of both run. */
const LISTED: ReadonlySet<string> = new Set(['topics', 'keywords'])
const ACTIONS: Readonly<Record<Action, number>> = { log: 0, redact: 1, block: 2 }
const TOKENS: Readonly<Record<Policy['tokens'], number>> = { log: 0, auto: 1, block: 2 }

function equal(a: Settings, b: Settings, detector: string): boolean {
  const keys = (Object.keys(a) as SettingKey[]).filter((key) => key.startsWith(`guardrails.${detector}.`))
  return keys.every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]))
}

function distinct(policies: readonly InjectionPolicy[]): InjectionPolicy[] {
  return [...new Map(policies.map((policy) => [JSON.stringify(policy), policy])).values()]
}
