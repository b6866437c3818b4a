// Parses models.dev's api.json: USD per 1M tokens, providers with their models.
import { CardBuilder, type CardCapability, type CardMode, type CardModel, isRecord, type ParsedCard, tokenCount } from './card.ts'
import { fallbackProvider } from './lookup.ts'

/** Converts USD per 1M tokens to nano-USD. */
const SHIFT = 9
const KINDS = ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'input_audio', 'output_audio'] as const

export function fallbackCard(json: unknown): ParsedCard {
  if (!isRecord(json)) throw new Error('The rate card is not a JSON object.')
  const builder = new CardBuilder()
  for (const [name, provider] of Object.entries(json)) {
    if (!isRecord(provider) || !isRecord(provider.models)) continue
    for (const [id, entry] of Object.entries(provider.models)) {
      if (!isRecord(entry)) continue
      const model = builder.model(fallbackProvider(name), id)
      if (model === null) continue
      if (isRecord(entry.cost)) addPrices(builder, model, entry.cost)
      Object.assign(model, factsOf(id, entry))
    }
  }
  return builder.done()
}

function addPrices(builder: CardBuilder, model: CardModel, cost: Readonly<Record<string, unknown>>): void {
  const add = (prices: Readonly<Record<string, unknown>>, suffix: string) => {
    for (const kind of KINDS) builder.price(model, `${kind}${suffix}`, prices[kind], SHIFT)
  }
  add(cost, '')
  const tiers = (Array.isArray(cost.tiers) ? cost.tiers : []).flatMap((tier: unknown) => {
    if (!isRecord(tier) || !isRecord(tier.tier) || tier.tier.type !== 'context') return []
    const above = tokenCount(tier.tier.size)
    return above === undefined ? [] : [{ tier, above }]
  })
  for (const { tier, above } of tiers) add(tier, `_above_${above}`)
  // An older spelling of the same surcharge.
  if (tiers.length === 0 && isRecord(cost.context_over_200k)) add(cost.context_over_200k, '_above_200000')
}

function factsOf(id: string, entry: Readonly<Record<string, unknown>>): Omit<CardModel, 'id' | 'prices'> {
  const limit = isRecord(entry.limit) ? entry.limit : {}
  const modalities = isRecord(entry.modalities) ? entry.modalities : {}
  const [inputs, outputs] = [words(modalities.input), words(modalities.output)]
  const contextWindow = tokenCount(limit.context)
  const maxOutputTokens = tokenCount(limit.output)
  const mode = modeBy(id, inputs, outputs)
  const flags: [CardCapability, boolean | undefined][] = [
    ['function_calling', flag(entry.tool_call)],
    ['reasoning', flag(entry.reasoning)],
    ['response_schema', flag(entry.structured_output)],
    ['vision', inputs?.includes('image')],
    ['pdf_input', inputs?.includes('pdf')],
    ['audio_input', inputs?.includes('audio')],
    ['audio_output', outputs?.includes('audio')],
  ]
  return {
    ...(contextWindow ? { contextWindow } : {}),
    ...(maxOutputTokens ? { maxOutputTokens } : {}),
    ...(mode ? { mode } : {}),
    capabilities: Object.fromEntries(flags.filter(([, value]) => value !== undefined)),
  }
}

function words(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((word) => typeof word === 'string') : undefined
}

/** Reads `true`, or `{ supported: true }`. */
function flag(value: unknown): boolean | undefined {
  const said = isRecord(value) ? value.supported : value
  return typeof said === 'boolean' ? said : undefined
}

function modeBy(id: string, inputs: string[] | undefined, outputs: string[] | undefined): CardMode | undefined {
  if (inputs === undefined || outputs === undefined || /embed|rerank|moderation|guard/i.test(id)) return undefined
  if (outputs.includes('text'))
    return inputs.includes('text') ? 'chat' : inputs.includes('audio') ? 'audio_transcription' : undefined
  if (outputs.includes('image')) return 'image_generation'
  return outputs.includes('audio') ? 'audio_speech' : undefined
}
