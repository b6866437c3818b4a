// Compiles the settings to rules, once per change.
import { creditCardFinder } from './detectors/credit-card.ts'
import { emailFinder } from './detectors/email.ts'
import { ibanFinder } from './detectors/iban.ts'
import { ipFinder } from './detectors/ip.ts'
import { regexFinder } from './detectors/operator-regex.ts'
import { phoneFinder } from './detectors/phone.ts'
import { secretFinders } from './detectors/secrets.ts'
import { usSsnFinder } from './detectors/us-ssn.ts'
import { WORD_REACH, WordTrie } from './detectors/word-trie.ts'
import type { Finder, Rule, Span } from './rule.ts'
import type { Action, Direction } from './service.ts'
import type { PiiEntity, Settings, TopicSetting } from './settings.ts'

export interface InjectionPolicy {
  readonly action: Exclude<Action, 'redact'>
  readonly threshold: number
  readonly toolResults: boolean
}

export interface Policy {
  /** True: detectors of other plugins run. */
  readonly enabled: boolean
  readonly rules: Readonly<Record<Direction, readonly Rule[]>>
  /** Empty: prompts are not judged. */
  readonly injection: readonly InjectionPolicy[]
  /** For a request whose caller asked for a judgement. */
  readonly asked: InjectionPolicy
  /** For prompts of tokens. */
  readonly tokens: Settings['guardrails.tokens.mode']
  /** True: personal data that was redacted in the request is restored in the answer. */
  readonly restore: boolean
  /** For cache keys. */
  readonly version: string
}

/**
 * Operator patterns run on windows, because the length of their matches is unknown. For answers the window equals the hold-back of a
 * stream, also when they are not streamed.
 */
export const WINDOWS: Readonly<Record<Direction, { readonly reach: number; readonly grid: number }>> = {
  input: { reach: 1024, grid: 2048 },
  output: { reach: 256, grid: 64 },
}

const PII: Readonly<Record<PiiEntity, () => Finder>> = {
  email: emailFinder,
  phone: phoneFinder,
  credit_card: creditCardFinder,
  us_ssn: usSsnFinder,
  iban: ibanFinder,
  ip: ipFinder,
}

export function policyOf(settings: Settings): Policy {
  const enabled = settings['guardrails.enabled']
  const injection = settings['guardrails.prompt_injection.mode']
  return {
    enabled,
    rules: { input: enabled ? rulesOf(settings, 'input') : [], output: enabled ? rulesOf(settings, 'output') : [] },
    injection: enabled && injection !== 'off' ? [{ action: injection, ...injectionFacts(settings) }] : [],
    asked: { action: 'block', ...injectionFacts(settings) },
    tokens: settings['guardrails.tokens.mode'],
    restore: redactsInput(settings) && settings['guardrails.pii.restore'],
    version: JSON.stringify(settings),
  }
}

/** True: personal data in requests is redacted. */
export function redactsInput(settings: Settings): boolean {
  return settings['guardrails.enabled'] && settings['guardrails.pii.mode'] === 'redact' && settings['guardrails.pii.input']
}

function injectionFacts(settings: Settings): Omit<InjectionPolicy, 'action'> {
  return {
    threshold: settings['guardrails.prompt_injection.threshold'],
    toolResults: settings['guardrails.prompt_injection.scan_tool_results'],
  }
}

function rulesOf(settings: Settings, direction: Direction): Rule[] {
  const rules: Rule[] = []
  const add = (detector: 'secrets' | 'pii' | 'topics' | 'keywords', finders: () => readonly Partial<Rule & Finder>[]): void => {
    const mode = settings[`guardrails.${detector}.mode`]
    if (mode === 'off' || !settings[`guardrails.${detector}.${direction}`]) return
    for (const finder of finders())
      rules.push({ detector, action: mode, failOpen: mode !== 'block', minHits: null, grid: 1, ...(finder as Finder) })
  }
  add('secrets', secretFinders)
  add('pii', () => [...new Set(settings['guardrails.pii.entities'])].map((entity) => PII[entity]()))
  add('topics', () => topicFinders(settings['guardrails.topics.deny']))
  add('keywords', () => keywordFinders(settings, direction))
  return rules
}

/** One search for all topics. A hit covers only the start of a word, because the next word may belong to another topic. */
function topicFinders(topics: readonly TopicSetting[]): (Finder & Pick<Rule, 'minHits'>)[] {
  if (topics.length === 0) return []
  const lists = new Map<string, string[]>()
  const minHits = new Map<string, number>()
  for (const topic of topics) {
    const { name, keywords, min_hits } = typeof topic === 'string' ? { name: topic, keywords: [topic], min_hits: 1 } : topic
    lists.set(name, [...(lists.get(name) ?? []), ...keywords])
    minHits.set(name, Math.min(minHits.get(name) ?? min_hits, min_hits))
  }
  const { find, ...words } = wordFinder(lists, false)
  const beginning = (span: Span | null): Span | null => (span === null ? null : { ...span, end: span.start + 1 })
  return [{ ...words, minHits, find: (text, from) => beginning(find(text, from)) }]
}

function keywordFinders(settings: Settings, direction: Direction): (Finder & Partial<Rule>)[] {
  const caseSensitive = settings['guardrails.keywords.case_sensitive']
  const words = settings['guardrails.keywords.deny']
  const { reach, grid } = WINDOWS[direction]
  return [
    ...(words.length === 0 ? [] : [wordFinder(new Map([['keyword', words]]), caseSensitive)]),
    ...settings['guardrails.keywords.regex'].map((source) => ({ ...regexFinder(source, caseSensitive, reach), grid })),
  ]
}

function wordFinder(lists: ReadonlyMap<string, readonly string[]>, caseSensitive: boolean): Finder {
  const trie = new WordTrie(lists, caseSensitive)
  return { entity: 'word', reach: WORD_REACH, find: (text, from) => trie.find(text, from) }
}
