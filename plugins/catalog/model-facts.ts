// The service `modelFacts`. Precedence: layers of other plugins, the gateway's own facts, the provider driver's facts, the compiled-in
// rate card.
import type { Configuration } from '../../core/config/configuration.ts'
import type { Clock } from '../../core/types/ports/ports.ts'
import type { ModelCaps } from '../../core/types/request/dialect.ts'
import { type OwnFacts, ownFacts } from './facts/by-provider.ts'
import { modeOf } from './mode.ts'
import type { RateCard, RateCardEntry } from './rate-card.ts'
import type { Capability, FactsLayer, ModelFacts, ModelFactsService } from './service.ts'

/** Some prices depend on the hour. */
const REMEMBERED_MS = 300_000
/** A limit, because model ids also come from callers. */
const MAX_REMEMBERED = 5000

export function modelFacts(card: RateCard, configuration: Configuration, clock: Clock): ModelFactsService {
  const layers = new Map<FactsLayer, ((orgId: number) => boolean) | undefined>()
  const remembered = new Map<string, ModelFacts>()
  let until = 0
  const refresh = () => remembered.clear()
  return {
    refresh,
    compiledIn,
    layer(layer, differs) {
      layers.set(layer, differs)
      refresh()
      return () => {
        layers.delete(layer)
        refresh()
      }
    },
    facts(provider, model, orgId = null) {
      const of = orgId === null || !differs(orgId) ? null : orgId
      const now = clock.monotonic()
      if (now >= until || remembered.size >= MAX_REMEMBERED) {
        refresh()
        until = now + REMEMBERED_MS
      }
      const key = of === null ? `${provider}/${model}` : `${of} ${provider}/${model}`
      let facts = remembered.get(key)
      if (facts === undefined) {
        facts = compiledIn(provider, model)
        for (const layer of layers.keys()) facts = merged(facts, layer(provider, model, of))
        remembered.set(key, facts)
      }
      return facts
    },
  }

  /** Organizations without facts of their own share one entry. */
  function differs(orgId: number): boolean {
    for (const own of layers.values()) if (own?.(orgId)) return true
    return false
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
  // Rows and drivers describe chat models; for a speech model they know only the family.
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

/** null stops the search: the value is unknown. */
function firstKnown(...values: (number | null | undefined)[]): number | null {
  return values.find((value) => value !== undefined) ?? null
}

function capabilitiesOf(caps: ModelCaps): Partial<Record<Capability, boolean>> {
  const all: [Capability, boolean | undefined][] = [
    // The gateway chooses the endpoint that supports tools, so the caller need not know it.
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
