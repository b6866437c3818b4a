// Capabilities of Claude models, by generation. An id that is newer than this list, or has no version, inherits the newest generation.
import type { Effort } from '../../../core/types/request/canonical.ts'
import type { ModelCaps } from '../../../core/types/request/dialect.ts'

export function claudeCaps(model: string): ModelCaps {
  const { tier, version } = identify(model)
  if (version < 3)
    return {
      ...COMMON,
      ...BEFORE_THINKING,
      context: version < 2.1 ? 100_000 : 200_000,
      maxOutput: 4096,
      visionIn: false,
      pdfIn: false,
    }
  if (version < 4) return { ...COMMON, ...BEFORE_THINKING, ...third(version), context: 200_000 }
  if (version < 4.6) return { ...COMMON, ...fourth(tier, version), context: 200_000 }
  const maxOutput = tier === 'opus' ? 128_000 : 64_000
  if (version < 4.7) return { ...COMMON, ...BOTH_KINDS, maxOutput }
  return { ...COMMON, ...ADAPTIVE_ONLY, maxOutput, midSystem: takesMidSystem(tier, version) }
}

const NEWEST = Number.POSITIVE_INFINITY
const ENABLED_ONLY = { enabled: true, adaptive: false, disabled: true, betweenTools: false } as const
const LOW_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high']

const COMMON = {
  family: 'claude',
  temperatureMax: 1,
  visionIn: true,
  pdfIn: true,
  audioIn: false,
  maxTokensField: 'max_tokens',
  stopSupported: true,
} satisfies ModelCaps

const BEFORE_THINKING = {
  sampling: 'free',
  reasoning: false,
  thinking: { enabled: false, adaptive: false, disabled: false, betweenTools: false },
  efforts: [],
  structuredOutputs: false,
  midSystem: false,
  prefill: true,
} satisfies Partial<ModelCaps>

/** 4.6: budgets and adaptive effort. */
const BOTH_KINDS = {
  sampling: 'free',
  reasoning: true,
  thinking: { enabled: true, adaptive: true, disabled: true },
  efforts: [...LOW_TO_HIGH, 'max'],
  structuredOutputs: true,
  midSystem: false,
  prefill: false,
  webSearch: true,
} satisfies Partial<ModelCaps>

/** 4.7 and later. */
const ADAPTIVE_ONLY = {
  ...BOTH_KINDS,
  sampling: 'default_only',
  thinking: { enabled: false, adaptive: true, disabled: true },
  efforts: [...LOW_TO_HIGH, 'xhigh', 'max'],
} satisfies Partial<ModelCaps>

function third(version: number): Partial<ModelCaps> {
  if (version < 3.5) return { maxOutput: 4096, pdfIn: false }
  if (version < 3.7) return { maxOutput: 8192, webSearch: true }
  return { maxOutput: 64_000, webSearch: true, reasoning: true, thinking: ENABLED_ONLY }
}

function fourth(tier: string, version: number): Partial<ModelCaps> {
  return {
    sampling: 'free',
    reasoning: true,
    thinking: ENABLED_ONLY,
    efforts: tier === 'opus' && version >= 4.5 ? LOW_TO_HIGH : [],
    structuredOutputs: version >= 4.1,
    midSystem: false,
    prefill: true,
    webSearch: true,
    maxOutput: tier === 'opus' && version < 4.5 ? 32_000 : 64_000,
  }
}

/** opus from 4.8; sonnet and haiku from 5.5; fable, mythos and future tiers from 5. sonnet-5: sources disagree, so no. */
function takesMidSystem(tier: string, version: number): boolean {
  if (tier === 'opus') return version >= 4.8
  if (tier === 'sonnet' || tier === 'haiku') return version >= 5.5
  return version >= 5
}

interface Identity {
  tier: string
  version: number
}

/** Reads `claude-3-5-sonnet-20241022`, `claude-sonnet-4.5`, `us.anthropic.claude-opus-4-1-20250805-v1:0` and `claude-opus-4@20250514`. */
function identify(model: string): Identity {
  const name = model.toLowerCase().slice(Math.max(0, model.toLowerCase().lastIndexOf('claude')))
  const words = name
    .replace(/[@:].*$/, '')
    .split(/[-_. ]/)
    .slice(1)
  const tier = words.find((word) => /^[a-z]+$/.test(word) && word !== 'instant') ?? (words.includes('instant') ? 'instant' : '')
  // A date is not a version.
  const at = words.findIndex((word) => /^v?\d{1,2}$/.test(word))
  if (at === -1) return { tier, version: tier === 'instant' ? 1 : NEWEST }
  const major = Number((words[at] as string).replace('v', ''))
  const minor = /^\d{1,2}$/.test(words[at + 1] ?? '') ? Number(words[at + 1]) : 0
  return { tier, version: major + Math.min(minor, 9.9) / 10 }
}
