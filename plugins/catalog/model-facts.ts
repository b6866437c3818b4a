// The service `modelFacts`: our own facts over what the provider's driver knows over the compiled-in rate card, then the
// layers other plugins add.
import type { Configuration } from '../../core/config/configuration.ts'
import type { ModelCaps } from '../../core/types/dialect.ts'
import type { Clock } from '../../core/types/ports.ts'
import { type OwnFacts, ownFacts } from './facts/by-provider.ts'
import { modeOf } from './mode.ts'
import type { RateCard, RateCardEntry } from './rate-card.ts'
import type { Capability, FactsLayer, ModelFacts, ModelFactsService } from './service.ts'

/** Some prices have an hour. */
const REMEMBERED_MS = 300_000
/** Model ids come from callers too. */
const MAX_REMEMBERED = 5000

export function modelFacts(card: RateCard, configuration: Configuration, clock: Clock): ModelFactsService {
  const layers = new Set<FactsLayer>()
  const remembered = new Map<string, ModelFacts>()
  let until = 0
  const refresh = () => remembered.clear()
  return {
    refresh,
    compiledIn,
    layer(layer) {
      layers.add(layer)
      refresh()
      return () => {
        layers.delete(layer)
        refresh()
      }
    },
    facts(provider, model) {
      const now = clock.monotonic()
      if (now >= until || remembered.size >= MAX_REMEMBERED) {
        refresh()
        until = now + REMEMBERED_MS
      }
      const key = `${provider}/${model}`
      let facts = remembered.get(key)
      if (facts === undefined) {
        facts = compiledIn(provider, model)
        for (const layer of layers) facts = merged(facts, layer(provider, model))
        remembered.set(key, facts)
      }
      return facts
    },
  }

  function compiledIn(provider: string, model: string): ModelFacts {
    const entry = card.entry(provider, model, clock.now())
    const own = ownFacts(provider, model)
    const caps = configuration.known(provider) ? configuration.provider(provider).caps(model) : null
    return known(entry, own, caps, model)
  }
}

function known(entry: RateCardEntry | null, rows: OwnFacts, caps: ModelCaps | null, model: string): ModelFacts {
  const described = entry !== null || Object.keys(rows).length > 0 || (caps !== null && Object.keys(caps).length > 1)
  const mode = rows.mode ?? (described ? modeOf(model) : undefined)
  // Rows and drivers describe models that chat; of a speech model they only know the family.
  const [own, driver] = mode === 'chat' ? [rows, caps] : [NOTHING, null]
  const contextWindow = firstKnown(own.contextWindow, driver?.context, entry?.contextWindow)
  const maxOutputTokens = firstKnown(own.maxOutputTokens, driver?.maxOutput)
  const price = own.price === undefined ? entry?.price : own.price
  return {
    ...(contextWindow ? { contextWindow } : {}),
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
    ...(mode ? { mode } : {}),
    ...(price ? { price } : {}),
    capabilities: { ...(driver ? capabilitiesOf(driver) : {}), ...own.capabilities },
  }
}

const NOTHING: OwnFacts = {}

/** null ends the search: not known. */
function firstKnown(...values: (number | null | undefined)[]): number | null {
  return values.find((value) => value !== undefined) ?? null
}

function capabilitiesOf(caps: ModelCaps): Partial<Record<Capability, boolean>> {
  const all: [Capability, boolean | undefined][] = [
    // The gateway goes where the tools are: which endpoint takes them is no matter of the caller's.
    ['function_calling', caps.toolsOnChat === undefined ? undefined : true],
    ['vision', caps.visionIn],
    ['pdf_input', caps.pdfIn],
    ['audio_input', caps.audioIn],
    ['reasoning', caps.reasoning],
    ['response_schema', caps.structuredOutputs],
    ['system_messages', caps.systemInstruction],
    ['web_search', caps.webSearch],
  ]
  return Object.fromEntries(all.filter(([, value]) => value !== undefined))
}

function merged(facts: ModelFacts, more: Partial<ModelFacts> | null): ModelFacts {
  if (more === null) return facts
  return { ...facts, ...more, capabilities: { ...facts.capabilities, ...more.capabilities } }
}
