// Capabilities of OpenAI's models, by family and generation. A newer id inherits the newest behaviour of its family; an unknown family
// inherits none.
import type { Effort } from '../../../core/types/request/canonical.ts'
import type { ModelCaps } from '../../../core/types/request/dialect.ts'

const PLAIN: ModelCaps = { family: 'gpt' }

export function openaiCaps(model: string): ModelCaps {
  const id = bareId(model)
  const series = /^o(\d+)/.exec(id)
  if (series) return oSeries(id)
  const version = /^gpt-(\d+)(?:\.(\d+))?/.exec(id)
  if (version && Number(version[1]) >= 5) return gpt5(id, Number(version[1]), Number(version[2] ?? 0))
  if (/^gpt-audio|-audio-preview/.test(id)) return { ...CLASSIC, audioIn: true, visionIn: false, pdfIn: false }
  if (id.startsWith('gpt-4o') || id.startsWith('chatgpt-4o'))
    return { ...CLASSIC, ...webSearch(id), context: 128_000, maxOutput: 16_384 }
  if (id.startsWith('gpt-4.1')) return { ...CLASSIC, context: 1_047_576, maxOutput: 32_768 }
  if (id.startsWith('gpt-4.5')) return { ...CLASSIC, context: 128_000, maxOutput: 16_384 }
  if (id.startsWith('gpt-4') || id.startsWith('gpt-3.5')) return before4o(id)
  // gpt-oss, and every model outside the chat families of OpenAI's own service.
  return PLAIN
}

/** Models that answer without reasoning. */
const CLASSIC: ModelCaps = {
  ...PLAIN,
  sampling: 'free',
  temperatureMax: 2,
  reasoning: false,
  efforts: [],
  structuredOutputs: true,
  midSystem: true,
  visionIn: true,
  pdfIn: true,
  toolsOnChat: 'yes',
  developerRole: false,
  stopSupported: true,
  cacheBreakpoints: false,
}

/** Models that reason first. */
const REASONING: ModelCaps = {
  ...PLAIN,
  sampling: 'default_only',
  reasoning: true,
  structuredOutputs: true,
  midSystem: true,
  visionIn: true,
  pdfIn: true,
  toolsOnChat: 'yes',
  maxTokensField: 'max_completion_tokens',
  developerRole: true,
  stopSupported: false,
  cacheBreakpoints: false,
}

/** "ft:gpt-4o-mini-2024-07-18:org::id" and "openai/gpt-5" have the model's name in the middle. */
function bareId(model: string): string {
  const tuned = model.startsWith('ft:') ? (model.split(':')[1] ?? '') : model
  return tuned.slice(tuned.lastIndexOf('/') + 1).toLowerCase()
}

function oSeries(id: string): ModelCaps {
  const window = { context: 200_000, maxOutput: 100_000 }
  const caps: ModelCaps = { ...REASONING, sampling: 'none', efforts: ['low', 'medium', 'high'] }
  if (/^o1-(?:mini|preview)/.test(id)) {
    return {
      ...caps,
      context: 128_000,
      maxOutput: id.startsWith('o1-mini') ? 65_536 : 32_768,
      efforts: [],
      developerRole: false,
      structuredOutputs: false,
      visionIn: false,
      pdfIn: false,
    }
  }
  if (id.startsWith('o3-mini')) return { ...caps, ...window, visionIn: false, pdfIn: false }
  return { ...caps, ...window, ...responsesOnly(id) }
}

function gpt5(id: string, major: number, minor: number): ModelCaps {
  if (/-chat(?:-latest)?(?:-|$)/.test(id))
    return { ...CLASSIC, ...webSearch(id), maxTokensField: 'max_completion_tokens', context: 128_000, maxOutput: 16_384 }
  const generation = major * 100 + minor
  return {
    ...REASONING,
    ...webSearch(id),
    // The context sizes of later generations come from the rate card.
    ...(generation <= 503 ? { context: 400_000, maxOutput: 128_000 } : {}),
    efforts: efforts(id, generation),
    toolsOnChat: toolsOnChat(id, generation),
    cacheBreakpoints: generation >= 506,
    ...responsesOnly(id),
  }
}

function efforts(id: string, generation: number): readonly Effort[] {
  const upper: Effort[] = ['low', 'medium', 'high']
  if (generation === 500) return /^gpt-5-pro/.test(id) ? ['high'] : /codex/.test(id) ? upper : ['minimal', ...upper]
  if (/-pro(?:-|$)/.test(id)) return ['medium', 'high', 'xhigh']
  if (/codex/.test(id)) return generation >= 502 || id.includes('codex-max') ? [...upper, 'xhigh'] : upper
  const top: Effort[] = generation === 501 ? upper : generation < 506 ? [...upper, 'xhigh'] : [...upper, 'xhigh', 'max']
  return hasNone(id, generation) ? ['none', ...top] : top
}

/** From 6.1 on, and for gpt-6-astra, reasoning cannot be switched off. */
function hasNone(id: string, generation: number): boolean {
  return generation >= 501 && generation <= 600 && !id.startsWith('gpt-6-astra')
}

function toolsOnChat(id: string, generation: number): NonNullable<ModelCaps['toolsOnChat']> {
  if (generation < 504) return 'yes'
  return hasNone(id, generation) && !/codex|-pro(?:-|$)/.test(id) ? 'effort_none_only' : 'no'
}

/** Models that the chat endpoint does not serve. */
function responsesOnly(id: string): Partial<ModelCaps> {
  return /-pro(?:-|$)|codex|deep-research|computer-use/.test(id) ? { toolsOnChat: 'no' } : {}
}

/** The only models whose chat endpoint accepts web_search_options. */
function webSearch(id: string): Partial<ModelCaps> {
  return /-search-(?:preview|api)/.test(id) ? { webSearch: true } : {}
}

function before4o(id: string): ModelCaps {
  const vision = id.startsWith('gpt-4-turbo') || id.includes('vision')
  const limits = id.startsWith('gpt-4-turbo') || id.includes('preview') ? { context: 128_000, maxOutput: 4096 } : {}
  return { ...CLASSIC, ...limits, structuredOutputs: false, visionIn: vision, pdfIn: false }
}
