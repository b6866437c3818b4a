// Recommendations that one setting carries out: the exact cache, prompt-cache breakpoints, filters of tool output; and the semantic cache,
// which needs an embedding model first.
import type { Facts } from '../facts.ts'
import { COUNTS, type Counts, type Observed } from '../observed.ts'
import { REPEAT_MS } from '../sampler.ts'
import type { ApplyAction, Finding } from '../service.ts'

const MIN_LOOKED_AT = 50
const MIN_REPEATS = 0.03
const MIN_NEAR_REPEATS = 0.1
const MIN_PREFIX = 0.7
const MAX_CACHE_READ = 0.1
const MIN_TOOLS = 0.3
/** Part of tool output that the built-in filters remove, a careful guess. */
const FILTERED = 0.3

export function settingFindings(facts: Facts): Finding[] {
  const all = summed(facts.observed)
  if (all.looked_at < MIN_LOOKED_AT) return []
  return [exactCache(facts, all), semanticCache(facts, all), cacheInjection(facts), tokenFilters(facts, all)].flatMap(
    (one) => one ?? [],
  )
}

function exactCache(facts: Facts, all: Counts): Finding | null {
  if (facts.setting('exact_cache.ttl_ms') !== 0 || all.repeats < all.looked_at * MIN_REPEATS) return null
  return {
    kind: 'enable_exact_cache',
    subject: 'exact_cache.ttl_ms',
    title: 'Answer repeated requests from the exact cache',
    detail: `${percent(all.repeats / all.looked_at)} of the requests repeated one of the last five minutes. They cost ${usd(all.repeat_cost_nano)} USD.`,
    estMonthlyUsd: (all.repeat_cost_nano / 1e9) * facts.monthly,
    confidence: 0.8,
    evidence: { requests: all.looked_at, repeats: all.repeats, cost_usd: all.repeat_cost_nano / 1e9 },
    ...change(facts, 'exact_cache.ttl_ms', REPEAT_MS),
  }
}

function semanticCache(facts: Facts, all: Counts): Finding | null {
  const isOn = facts.setting('semantic_cache.enabled') === true
  if (isOn || all.near_repeats < all.looked_at * MIN_NEAR_REPEATS) return null
  return {
    kind: 'enable_semantic_cache',
    subject: 'semantic_cache',
    title: 'Answer nearly equal short prompts from the semantic cache',
    detail: `${percent(all.near_repeats / all.looked_at)} of the requests were short prompts that differ in spelling only. They cost ${usd(all.near_cost_nano)} USD.`,
    estMonthlyUsd: (all.near_cost_nano / 1e9) * facts.monthly,
    confidence: 0.5,
    evidence: { requests: all.looked_at, near_repeats: all.near_repeats, cost_usd: all.near_cost_nano / 1e9 },
    applyAction: null,
    applyHint: 'The semantic cache needs an embedding model: see docs/policies.md.',
  }
}

function cacheInjection(facts: Facts): Finding | null {
  if (facts.setting('cache_injection.enabled') !== false) return null
  const rows = facts.observed.filter(({ wireFormat }) => wireFormat === 'messages')
  const sums = summed(rows)
  if (sums.looked_at < MIN_LOOKED_AT || sums.prefix_chars < sums.prompt_chars * MIN_PREFIX) return null
  const places = new Set(rows.map(({ virtualModel, provider, model }) => `${virtualModel} ${provider}/${model}`))
  const used = facts.used.filter(({ virtualModel, provider, model }) => places.has(`${virtualModel ?? ''} ${provider}/${model}`))
  const tokens = used.reduce((sum, { inputTokens }) => sum + inputTokens, 0)
  const read = used.reduce((sum, { cacheReadTokens }) => sum + cacheReadTokens, 0)
  if (tokens === 0 || read > tokens * MAX_CACHE_READ) return null
  const repeated = sums.prefix_chars / sums.prompt_chars
  let savedNano = 0
  for (const { provider, model, inputTokens } of used) {
    const price = facts.price(provider, model)
    if (price?.input === undefined || price.cacheRead === undefined) continue
    const perRead = price.input - price.cacheRead
    const perWrite = (price.cacheWrite ?? price.input) - price.input
    savedNano += (inputTokens * (repeated * perRead - (1 - repeated) * perWrite)) / 1e6
  }
  if (savedNano <= 0) return null
  return {
    kind: 'enable_cache_injection',
    subject: 'cache_injection.enabled',
    title: 'Mark repeated beginnings of prompts for the prompt cache',
    detail: `${percent(repeated)} of the prompt text to upstreams that speak messages repeats, and ${percent(read / tokens)} of its tokens were read from their cache. The estimate takes the repeated part at the price of a cache read and the rest at that of a cache write.`,
    estMonthlyUsd: (savedNano / 1e9) * facts.monthly,
    confidence: 0.7,
    evidence: { input_tokens: tokens, cache_read_tokens: read, repeated_share: round(repeated) },
    ...change(facts, 'cache_injection.enabled', true),
  }
}

function tokenFilters(facts: Facts, all: Counts): Finding | null {
  if (facts.setting('token_saver.filters_enabled') !== false || all.tool_chars < all.prompt_chars * MIN_TOOLS) return null
  const share = all.tool_chars / all.prompt_chars
  const inputNano = facts.used.reduce((sum, { provider, model, inputTokens }) => {
    const price = facts.price(provider, model)
    return sum + (inputTokens * (price?.input ?? 0)) / 1e6
  }, 0)
  return {
    kind: 'enable_token_filters',
    subject: 'token_saver.filters_enabled',
    title: 'Shorten tool output before it is sent',
    detail: `${percent(share)} of the prompt text is tool output. The estimate assumes that filters remove ${percent(FILTERED)} of it, at the input price.`,
    estMonthlyUsd: ((inputNano * share * FILTERED) / 1e9) * facts.monthly,
    confidence: 0.5,
    evidence: { requests: all.looked_at, prompt_chars: all.prompt_chars, tool_chars: all.tool_chars },
    ...change(facts, 'token_saver.filters_enabled', true),
  }
}

/** For a setting of the whole gateway, another organization gets the hint only. */
function change(facts: Facts, key: string, value: number | boolean): { applyAction: ApplyAction | null; applyHint: string } {
  const shown = JSON.stringify(value)
  if (facts.isPinned(key))
    return { applyAction: null, applyHint: `gateway.config.ts pins it: set settings: { '${key}': ${shown} } there.` }
  if (!facts.isOwn(key)) return { applyAction: null, applyHint: `Ask the operator of the gateway to set \`${key}\` to ${shown}.` }
  return { applyAction: { type: 'set_setting', params: { key, value } }, applyHint: `Set \`${key}\` to ${shown}.` }
}

function summed(rows: readonly Observed[]): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, rows.reduce((sum, row) => sum + row[name], 0)])) as Counts
}

const percent = (share: number): string => `${Math.round(share * 100)} %`
const round = (value: number): number => Math.round(value * 1000) / 1000
const usd = (nano: number): string => (nano / 1e9).toFixed(4)
